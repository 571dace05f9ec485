"""The embedded base model: a small BART with random weights, to be trained on a corpus.

It is saved like any Hugging Face checkpoint (weights, config, generation_config, tokenizer), so no
later stage knows that it is special. One thing is: a model this small learns to copy late, unless
attention starts out copying. So the value and output projections of cross-attention start near the
identity, and attended tokens reach the (tied) output layer as they are.

Its tokenizer is learned from the corpus. `word` keeps every word, and the punctuation after it, as
a token: with the embedded world's closed vocabulary, copying a name means choosing one token. `bpe`
is byte-level BPE, which has no unknown words, for real text.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from brido.models.settings import EmbeddedSettings
from brido.utils.errors import parsing

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

# BART's order, so that bos, pad and eos have BART's ids 0, 1 and 2.
SPECIAL_TOKENS = ["<s>", "<pad>", "</s>", "<unk>"]
BOS, PAD, EOS = range(3)
INIT_STD = 0.05


def build_model(
    settings: EmbeddedSettings, tokenizer: "PreTrainedTokenizerFast"
) -> "PreTrainedModel":
    """A BART of these sizes for the tokenizer, with random weights.

    Cross-attention's projections start near the identity.

    Raises:
        BridoError: PyTorch cannot make it, as where memory does not suffice.
    """
    from transformers import BartConfig, BartForConditionalGeneration, GenerationConfig

    config = BartConfig(
        vocab_size=len(tokenizer),
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
    with parsing(lambda reason: f"checkpoints: no embedded model of these sizes: {reason}"):
        model = BartForConditionalGeneration(config).float()
    for layer in model.model.decoder.layers:
        for projection in (layer.encoder_attn.v_proj, layer.encoder_attn.out_proj):
            projection.weight.data += torch.eye(settings.d_model)
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


def learn_tokenizer(
    texts: Iterable[str], kind: Literal["word", "bpe"], vocabulary_size: int
) -> str:
    """A tokenizer with at most `vocabulary_size` tokens, learned from `texts`, as JSON.

    It writes `<s> text </s>` and decodes to the text it was given, provided that words are
    separated by single spaces and (`word`) all known.
    """
    tokenizer, trainer = _word(vocabulary_size) if kind == "word" else _bpe(vocabulary_size)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", BOS), ("</s>", EOS)],
    )
    return tokenizer.to_str()


def tokenizer_of(learned: str, max_tokens: int) -> "PreTrainedTokenizerFast":
    """The tokenizer that `learn_tokenizer` wrote; told to truncate, it cuts to `max_tokens`."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(learned),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        cls_token="<s>",
        sep_token="</s>",
        model_max_length=max_tokens,
        clean_up_tokenization_spaces=False,
    )


def _word(vocabulary_size: int) -> tuple[Tokenizer, Any]:
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    # Metaspace marks the start of a word, so that "." after a word and a "." that stands alone
    # differ and decoding puts every space back.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(),
            pre_tokenizers.Split(Regex(r"""[.,;:!?"')\]]+$"""), behavior="isolated"),
        ]
    )
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.WordLevelTrainer(
        vocab_size=vocabulary_size, special_tokens=SPECIAL_TOKENS, show_progress=False
    )
    return tokenizer, trainer


def _bpe(vocabulary_size: int) -> tuple[Tokenizer, Any]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    return tokenizer, trainer
