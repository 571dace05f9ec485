"""Tiny random encoder-decoders that every version of transformers builds alike.

Weights are drawn from a numpy generator in the order of the parameters' names, so that results
recorded with one version can be compared with another. Imports nothing of brido: the recorder runs
in an environment of its own.
"""

from collections.abc import Sequence

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

PAD, BOS, EOS = 1, 0, 2
SMALL = {"vocab_size": 61, "d_model": 16, "max_position_embeddings": 64}
LAYERS = {
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "dropout": 0.0,
}
TOKENS = {"pad_token_id": PAD, "bos_token_id": BOS, "eos_token_id": EOS}


def _configuration(family: str, changes: dict) -> transformers.PretrainedConfig:
    zero = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    if family == "t5":
        sizes = {"vocab_size": 61, "d_model": 16, "d_kv": 4, "d_ff": 24, "num_heads": 4}
        return transformers.T5Config(**sizes, num_layers=2, dropout_rate=0.0, **zero, **changes)
    # Marian starts from the pad token.
    start = {"decoder_start_token_id": PAD if family == "marian" else EOS}
    tokens = zero if family == "pegasus" else TOKENS | start
    return getattr(transformers, CONFIGURATIONS[family])(**SMALL | LAYERS | tokens | changes)


CONFIGURATIONS = {
    "bart": "BartConfig",
    "mbart": "MBartConfig",
    "marian": "MarianConfig",
    "pegasus": "PegasusConfig",
}
FAMILIES = (*CONFIGURATIONS, "t5")


def build_model(
    family: str,
    seed: int,
    end_bias: float = 0.0,
    forced_tokens: bool = False,
    ends: Sequence[int] = (),
    **changes: object,
) -> transformers.PreTrainedModel:
    """A random model in float64 and evaluation mode; a larger `end_bias` shortens its summaries.

    ends: its end tokens, where it has others than its configuration names; changes: of that.
    """
    configuration = _configuration(family, changes)
    configuration._attn_implementation = "sdpa"
    model = transformers.AutoModelForSeq2SeqLM.from_config(configuration).eval().double()
    sinusoids = "embed_positions" if family in ("pegasus", "marian") else None
    draw_weights(model, seed, fixed=sinusoids)
    with torch.no_grad():
        if hasattr(model, "final_logits_bias"):
            for end in (configuration.eos_token_id, *ends[1:]):
                model.final_logits_bias[0, end] += end_bias
    settings = model.generation_config
    settings.num_beams, settings.max_length = 1, 20
    settings.decoder_start_token_id = configuration.decoder_start_token_id
    settings.pad_token_id = configuration.pad_token_id
    settings.eos_token_id = list(ends) or configuration.eos_token_id
    settings.bos_token_id = getattr(configuration, "bos_token_id", None)
    # A BART built from a configuration may carry forced tokens along: say what is meant.
    settings.forced_bos_token_id = BOS if forced_tokens and family in ("bart", "mbart") else None
    last = ends[0] if ends else configuration.eos_token_id
    settings.forced_eos_token_id = last if forced_tokens else None
    return model


def draw_weights(
    model: transformers.PreTrainedModel, seed: int, norms: float = 1.0, fixed: str | None = None
) -> None:
    """Draw all weights but those with `fixed` in their names; norms: what is added to norms'."""
    generator = np.random.default_rng(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            if fixed is None or fixed not in name:
                values = generator.standard_normal(tuple(parameter.shape))
                is_norm = ("norm" in name or ".ln_" in name) and name.endswith("weight")
                parameter.copy_(torch.from_numpy(values * 0.45 + (norms if is_norm else 0.0)))


def draw_ids(
    seed: int, documents: int, length: int, padded: bool, first: int, pad: int, side: str = "right"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Random ids from `first` on and their mask, both [documents, length]; side: of the pads."""
    generator = np.random.default_rng(seed)
    ids = torch.from_numpy(generator.integers(first, SMALL["vocab_size"], (documents, length)))
    lengths = generator.integers(2, length + 1, size=documents) if padded else [length] * documents
    lengths[0] = length
    mask = (torch.arange(length)[None, :] < torch.tensor(lengths)[:, None]).long()
    mask = mask.flip(1) if side == "left" else mask
    return ids.masked_fill(mask == 0, pad), mask


def build_sources(
    family: str, seed: int, documents: int, length: int, padded: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Random source ids and their mask, both [documents, length]."""
    pad = 0 if family in ("pegasus", "t5") else PAD
    return draw_ids(seed, documents, length, padded, 4, pad)


WORDS = [f"w{number}" for number in range(40)]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


def tiny_bart(seed: int = 0, **changes: object) -> transformers.PreTrainedModel:
    """A random BART for the tokenizer below."""
    torch.manual_seed(seed)
    shape = {
        "vocab_size": len(SPECIAL) + len(WORDS),
        "d_model": 16,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24,
        "max_position_embeddings": 64,
        "dropout": 0.0,
        "init_std": 0.2,
    }
    return transformers.BartForConditionalGeneration(
        transformers.BartConfig(**{**shape, **changes})
    )


def word_tokenizer(words: Sequence[str] = WORDS) -> transformers.PreTrainedTokenizerFast:
    """BART's conventions over some words: `<s> x </s>`."""
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *words])}
    backend = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = WhitespaceSplit()
    backend.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", BOS), ("</s>", EOS)]
    )
    special = dict(zip(("bos", "pad", "eos", "unk"), SPECIAL, strict=True))
    named = {f"{name}_token": token for name, token in special.items()}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **named)
