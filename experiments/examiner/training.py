"""Trains the examiner's small models and saves them as converted models."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer
from transformers import (
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    ElectraConfig,
    ElectraForQuestionAnswering,
    PreTrainedModel,
)

from brido.evaluation.qafacteval.contexts import ContextReader
from brido.evaluation.qafacteval.questions import MarkedSentence, add_markers
from brido.models.loading import pretrained
from brido.models.tokens import padded
from brido.utils.progress import Progress
from brido.work.batches import plan_batches
from experiments.examiner import examples

VOCABULARY = 2500
BATCH_TOKENS = 1024
SIZE = {
    "hidden_size": 128,
    "num_attention_heads": 4,
    "intermediate_size": 256,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}


def train(
    label: str,
    model: PreTrainedModel,
    lengths: Sequence[int],
    loss_of: Callable[[list[int]], torch.Tensor],
    epochs: int,
    learning_rate: float,
    seed: int,
) -> None:
    """Minimise the loss of shuffled, length-sorted batches: AdamW, linear decay, clipped at 1.

    `loss_of` gets the indices of a batch.
    """
    batches = plan_batches(lengths, BATCH_TOKENS)
    rng = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
    total = epochs * len(batches)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / 100) * max(0.0, 1 - step / total)
    )
    model.train()
    with Progress(f"examiner: {label}", total, "batches") as progress:
        for _ in range(epochs):
            for batch in rng.sample(batches, len(batches)):
                loss = loss_of(batch)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                progress.advance(note=f"loss {loss.item():.3f}")
    model.eval()


def byte_pairs(folder: Path, texts: Sequence[str]) -> None:
    """Write vocab.json and merges.txt of a byte-level BPE with BART's special tokens."""
    tokenizer = ByteLevelBPETokenizer()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(texts, VOCABULARY, special_tokens=specials, show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_model(str(folder))


def word_pieces(folder: Path, texts: Sequence[str]) -> None:
    """Write vocab.txt of an uncased WordPiece."""
    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(texts, VOCABULARY, show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_model(str(folder))


def load_tokenizer(folder: Path, config: Any, **options: Any) -> Any:
    """The tokenizer of `folder`, of the kind that goes with the configuration."""
    config.save_pretrained(folder)
    return pretrained(AutoTokenizer, folder, **options)


def train_questions(rows: Sequence[dict], scratch: Path, target: Path, seed: int) -> None:
    """Train the question generator and save it as the converted folder `target`."""
    config = BartConfig(
        d_model=128, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=256, decoder_ffn_dim=256, dropout=0.0,
        max_position_embeddings=128, decoder_start_token_id=2,
    )  # fmt: skip
    tokenizer = load_tokenizer(scratch, config)
    add_markers(tokenizer)
    config.vocab_size = len(tokenizer)
    torch.manual_seed(seed)
    model = BartForConditionalGeneration(config)
    _copy_through(model)
    sources, targets = [], []
    for sentence, start, end, question in examples.questions(rows):
        sources.append(tokenizer(MarkedSentence(sentence, start, end).marked())["input_ids"])
        targets.append(tokenizer(question)["input_ids"])

    def loss_of(batch: list[int]) -> torch.Tensor:
        source = padded([sources[index] for index in batch], 1)
        # From <s>, as the released generator starts; its end token is learned like any other.
        target = padded([targets[index] for index in batch], 1)
        logits = model(
            input_ids=source, attention_mask=(source != 1).long(), decoder_input_ids=target[:, :-1]
        ).logits
        return F.cross_entropy(logits.transpose(1, 2), target[:, 1:], ignore_index=1)

    train("questions", model, [len(ids) for ids in sources], loss_of, 1, 2e-3, seed)
    save(model, tokenizer, target)


def train_reader(rows: Sequence[dict], scratch: Path, target: Path, seed: int, epochs: int) -> None:
    """Train the reader, spans and null alike, and save it as the converted folder `target`."""
    config = ElectraConfig(embedding_size=128, num_hidden_layers=3, **SIZE)
    tokenizer = load_tokenizer(scratch, config, do_lower_case=True)
    config.vocab_size = len(tokenizer)
    torch.manual_seed(seed)
    model = ElectraForQuestionAnswering(config)
    contexts = ContextReader(tokenizer)
    inputs, answers = [], []
    for question, text, span in examples.readings(rows, random.Random(seed)):
        context, asked = contexts.read(text), contexts.question_ids(question)
        front = [tokenizer.cls_token_id, *asked, tokenizer.sep_token_id]
        inputs.append((front, [*context.ids, tokenizer.sep_token_id]))
        answers.append(_pieces(context, span, len(front)))

    def loss_of(batch: list[int]) -> torch.Tensor:
        rows_ = [inputs[index][0] + inputs[index][1] for index in batch]
        kinds = [[0] * len(inputs[i][0]) + [1] * len(inputs[i][1]) for i in batch]
        output = model(
            input_ids=padded(rows_, 0),
            attention_mask=padded([[1] * len(row) for row in rows_], 0),
            token_type_ids=padded(kinds, 0),
        )
        wanted = torch.tensor([answers[index] for index in batch])
        starts = F.cross_entropy(output.start_logits, wanted[:, 0])
        return starts + F.cross_entropy(output.end_logits, wanted[:, 1])

    lengths = [len(front) + len(rest) for front, rest in inputs]
    train("reader", model, lengths, loss_of, epochs, 1e-3, seed)
    save(model, tokenizer, target)


@torch.no_grad()
def _copy_through(model: BartForConditionalGeneration) -> None:
    """Start the cross-attention by passing the source's states on: small models learn it late."""
    for layer in model.get_decoder().layers:
        for part in (layer.encoder_attn.v_proj, layer.encoder_attn.out_proj):
            part.weight.add_(torch.eye(len(part.weight)))


def _pieces(context: Any, span: tuple[int, int] | None, offset: int) -> tuple[int, int]:
    """First and last position of an answer in the input; (0, 0) where there is none."""
    if span is None:
        return 0, 0
    inside = [
        piece
        for piece, word in enumerate(context.piece_words)
        if context.words[word][0] < span[1] and context.words[word][1] > span[0]
    ]
    last = inside[-1]
    # Punctuation that sticks to the last word is no part of the answer.
    while len(inside) > 1 and context.pieces[last] in {",", ".", "'", "s"}:
        inside.pop()
        last = inside[-1]
    return inside[0] + offset, last + offset


def save(model: PreTrainedModel, tokenizer: Any, target: Path) -> None:
    """Write model and tokenizer as a converted folder."""
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
