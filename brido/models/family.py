"""What BRIDO has to know about each family of encoder-decoder models, in one table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class Family:
    """Facts about one family, under the name that `config.model_type` gives it.

    shares_cross_attention: the decoder is built of BART's modules (`decoder.py`), reaches attention
    through transformers' attention interface alone and takes the batch size of the source's keys
    from the encoder states, so all candidates of a document can share one set of source keys and
    values (`attention.py`).
    has_positions: the model has a table of positions, so longer sources cannot be encoded.
    float16: activations stay inside float16's range; PEGASUS and T5 overflow.
    norm_first: BART's modules normalise what comes in, not what goes out, and the decoder at last.
    newline: what the tokenizer writes for a new line in decoded text.
    """

    model_type: str
    shares_cross_attention: bool
    has_positions: bool
    float16: bool
    norm_first: bool = False
    newline: str | None = None


FAMILIES = {
    family.model_type: family
    for family in (
        Family("bart", shares_cross_attention=True, has_positions=True, float16=True),
        Family("mbart", True, has_positions=True, float16=True, norm_first=True),
        Family("marian", shares_cross_attention=True, has_positions=True, float16=True),
        Family("pegasus", True, True, float16=False, norm_first=True, newline="<n>"),
        Family("t5", shares_cross_attention=False, has_positions=False, float16=False),
    )
}

_warned: set[str] = set()


def family_of(config: Any) -> Family:
    """The family of a model, from its `config.model_type`.

    An unknown family is treated with the most careful facts (nothing shared, no float16) and is
    named in one warning per process.
    """
    model_type = config.model_type
    if model_type in FAMILIES:
        return FAMILIES[model_type]
    if model_type not in _warned:
        _warned.add(model_type)
        warnings.warn(
            f"model family {model_type!r} is not one of {', '.join(FAMILIES)}: every beam gets its "
            "own copy of the source's keys and values, which is correct but slow",
            stacklevel=2,
        )
    return Family(model_type, shares_cross_attention=False, has_positions=True, float16=False)


def source_positions(config: Any) -> int | None:
    """The number of source tokens a model can encode; None where it sets no limit."""
    if not family_of(config).has_positions:
        return None
    return getattr(config, "max_position_embeddings", None)


def inference_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 on an accelerator that computes in it, float32 everywhere else.

    float16 is never chosen by itself: PEGASUS and T5 overflow in it.
    """
    import torch

    if device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float32


def check_dtype(model: PreTrainedModel) -> None:
    """Nothing; raises BridoError for a model in float16 whose family overflows there."""
    import torch

    from brido.errors import BridoError

    if model.dtype == torch.float16 and not family_of(model.config).float16:
        raise BridoError(
            f"a {model.config.model_type} model cannot run in float16 (its activations overflow): "
            "load it with dtype=torch.bfloat16 or torch.float32"
        )


def check_scores(model: PreTrainedModel, scores: torch.Tensor) -> None:
    """Nothing; raises BridoError where a model's scores of what it wrote are NaN."""
    from brido.errors import BridoError

    if scores.isnan().any():
        raise BridoError(
            f"the {model.config.model_type} model computes NaN: its weights are damaged, or its "
            f"activations overflow in {model.dtype} (try runtime.precision: float32)"
        )
