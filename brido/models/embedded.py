"""The embedded base model: a small BART trained from scratch on a corpus in about a minute.

It is saved like any Hugging Face checkpoint (weights, config, generation_config, tokenizer), so no
later stage knows that it is special. One thing is: a model this small learns to copy late, unless
cross-attention starts out copying, so its value and output projections start near the identity and
attended source tokens reach the (tied) output layer as they are.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from brido.errors import BridoError
from brido.models.checkpoint import save
from brido.models.corpus_tokenizer import BOS, EOS, PAD, train_tokenizer
from brido.models.family import padded
from brido.models.settings import EmbeddedSettings

if TYPE_CHECKING:
    from transformers import BartForConditionalGeneration, PreTrainedTokenizerFast

Pair = tuple[str, str]
WARMUP_SHARE = 0.05
INIT_STD = 0.05
MAX_GRADIENT_NORM = 1.0
# Batches are cut from pools of this many batches sorted by length: little padding, and still as
# good as random.
POOL_BATCHES = 32


def train_embedded(
    pairs: Sequence[Pair],
    settings: EmbeddedSettings,
    folder: Path,
    device: str = "cpu",
    advance: Callable[[int, str], None] = lambda count, note: None,
) -> dict[str, Any]:
    """Train tokenizer and model on (document, summary) pairs, save both in `folder`, and return
    what happened: steps, parameters, vocabulary, and the loss of the last tenth of the steps.

    `advance(count, note)` is called with the number of pairs seen after each step. Equal pairs and
    settings give equal files on one machine with one number of threads.

    Raises:
        BridoError: no pairs, or sizes that do not fit together.
    """
    if not pairs:
        raise BridoError("the training split is empty: the embedded model has nothing to learn")
    if settings.d_model % settings.attention_heads:
        raise BridoError(
            f"checkpoints: d_model ({settings.d_model}) must be a multiple of attention_heads "
            f"({settings.attention_heads})"
        )
    longest = max(settings.max_source_tokens, settings.max_summary_tokens)
    texts = (text for pair in pairs for text in pair)
    tokenizer = train_tokenizer(texts, settings.tokenizer, settings.vocabulary_size, longest)
    torch.manual_seed(settings.seed)
    model = build_model(settings, len(tokenizer)).to(device)
    losses = _train(model, _encode(tokenizer, pairs, settings), settings, device, advance)
    save(model.eval(), tokenizer, folder)
    last = losses[-max(1, len(losses) // 10) :]
    return {
        "pairs": len(pairs),
        "steps": len(losses),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "vocabulary": len(tokenizer),
        "loss": sum(last) / len(last),
    }


def build_model(settings: EmbeddedSettings, vocabulary_size: int) -> "BartForConditionalGeneration":
    """A BART of these sizes with random weights, cross-attention's projections near identity."""
    from transformers import BartConfig, BartForConditionalGeneration, GenerationConfig

    config = BartConfig(
        vocab_size=vocabulary_size,
        d_model=settings.d_model,
        encoder_layers=settings.encoder_layers,
        decoder_layers=settings.decoder_layers,
        encoder_attention_heads=settings.attention_heads,
        decoder_attention_heads=settings.attention_heads,
        encoder_ffn_dim=settings.ffn_dim,
        decoder_ffn_dim=settings.ffn_dim,
        dropout=settings.dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        max_position_embeddings=max(settings.max_source_tokens, settings.max_summary_tokens),
        init_std=INIT_STD,
        bos_token_id=BOS,
        pad_token_id=PAD,
        eos_token_id=EOS,
        decoder_start_token_id=EOS,
        forced_eos_token_id=None,
        is_encoder_decoder=True,
    )
    model = BartForConditionalGeneration(config).float()
    with torch.no_grad():
        for layer in model.model.decoder.layers:
            for projection in (layer.encoder_attn.v_proj, layer.encoder_attn.out_proj):
                projection.weight.add_(torch.eye(settings.d_model))
    model.generation_config = GenerationConfig(
        bos_token_id=BOS,
        pad_token_id=PAD,
        eos_token_id=EOS,
        decoder_start_token_id=EOS,
        forced_bos_token_id=BOS,
        forced_eos_token_id=EOS,
        max_length=settings.max_summary_tokens,
        num_beams=settings.num_beams,
        length_penalty=settings.length_penalty,
        early_stopping=True,
    )
    return model


def _encode(
    tokenizer: "PreTrainedTokenizerFast", pairs: Sequence[Pair], settings: EmbeddedSettings
) -> list[tuple[list[int], list[int]]]:
    """Token ids of every pair, source and summary."""

    def ids(texts: list[str], longest: int) -> list[list[int]]:
        return tokenizer(texts, truncation=True, max_length=longest)["input_ids"]

    sources = ids([document for document, _ in pairs], settings.max_source_tokens)
    # One position fewer: the decoder's input has its start token in front.
    summaries = ids([summary for _, summary in pairs], settings.max_summary_tokens - 1)
    return list(zip(sources, summaries, strict=True))


def _train(
    model: "BartForConditionalGeneration",
    examples: list[tuple[list[int], list[int]]],
    settings: EmbeddedSettings,
    device: str,
    advance: Callable[[int, str], None],
) -> list[float]:
    """Cross-entropy training with AdamW, linear warm-up and decay; the loss of every step."""
    steps = settings.epochs * -(-len(examples) // settings.batch_size)
    warmup = max(1, round(WARMUP_SHARE * steps))
    optimizer = torch.optim.AdamW(model.parameters(), settings.learning_rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warmup, max(0.0, 1 - step / steps))
    )
    rng = random.Random(settings.seed)
    losses: list[float] = []
    model.train()
    for _ in range(settings.epochs):
        for batch in _batches(examples, settings.batch_size, rng):
            loss = _loss(model, batch, settings.label_smoothing, device)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_GRADIENT_NORM)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            advance(len(batch), f"loss {losses[-1]:.3f}")
    return losses


def _batches(
    examples: list[tuple[list[int], list[int]]], size: int, rng: random.Random
) -> Iterator[list[tuple[list[int], list[int]]]]:
    """One epoch in random order, sources of like length together, every example once."""
    order = list(range(len(examples)))
    rng.shuffle(order)
    pool = size * POOL_BATCHES
    batches = []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda index: len(examples[index][0]))
        batches += [part[i : i + size] for i in range(0, len(part), size)]
    rng.shuffle(batches)
    for batch in batches:
        yield [examples[index] for index in batch]


def _loss(
    model: "BartForConditionalGeneration",
    batch: list[tuple[list[int], list[int]]],
    label_smoothing: float,
    device: str,
) -> torch.Tensor:
    sources = padded([source for source, _ in batch], PAD).to(device)
    labels = padded([summary for _, summary in batch], PAD).to(device)
    start = torch.full_like(labels[:, :1], EOS)
    logits = model(
        input_ids=sources,
        attention_mask=(sources != PAD).long(),
        decoder_input_ids=torch.cat([start, labels[:, :-1]], dim=1),
        use_cache=False,
    ).logits
    return functional.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, label_smoothing=label_smoothing
    )
