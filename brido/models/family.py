"""The families of models that are known, found by `config.model_type`; `register` adds one."""

from typing import Any

from torch import Tensor
from transformers import PreTrainedModel
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from brido.models import decoder_only, encoder_decoder, global_attention
from brido.models.interface import Family
from brido.utils.errors import BridoError

FAMILIES: dict[str, Family] = {
    family.model_type: family
    for module in (encoder_decoder, global_attention, decoder_only)
    for family in module.FAMILIES
}
# Encoders fill in words that are left out, and read a text from both sides. The others look ahead
# in a pass over whole texts, keep no keys and values from step to step, or read a document
# otherwise behind others of its batch (BigBird).
_ENCODERS = {*MODEL_FOR_MASKED_LM_MAPPING_NAMES}.difference(
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
)
REFUSED = {
    *_ENCODERS, "bert-generation", "bigbird_pegasus", "fsmt", "openai-gpt", "prophetnet",
    "reformer", "xlm", "xlnet",
}  # fmt: skip


def register(family: Family) -> None:
    """Make a family known under its model_type; it takes the place of one of the same name."""
    FAMILIES[family.model_type] = family


def family_of(config: Any) -> Family:
    """The family of a model, from its `config.model_type`.

    Of an unknown one the most careful fact is assumed (nothing is shared), said in one warning a
    process.

    Raises:
        BridoError: the model does not write text, or not by attention to earlier tokens alone.
    """
    if config.model_type in REFUSED:
        raise BridoError(
            f"a {config.model_type} model, which cannot be used: it does not write text token by "
            "token from earlier tokens alone, or reads otherwise in a batch. Choose another one"
        )
    if config.model_type not in FAMILIES:
        decodes_alone = not getattr(config, "is_encoder_decoder", False)
        module = decoder_only if decodes_alone else encoder_decoder
        register(module.unknown_family(config))
    return FAMILIES[config.model_type]


def check_scores(model: PreTrainedModel, scores: Tensor, every: bool = True) -> None:
    """Raise BridoError if the scores [..., N] that a model gives texts are not finite numbers.

    every: whether all N must be. A search that may write fewer texts than it was asked for returns
    -inf for the rest: then one of N must be finite, and none NaN.
    """
    finite = scores.isfinite()
    if not (finite.all() if every else finite.any(-1).all()) or scores.isnan().any():
        computed = "NaN" if scores.isnan().any() else "infinite log-probabilities"
        raise BridoError(
            f"the {model.config.model_type} model computes {computed}: its weights are damaged, or "
            f"its activations overflow in {model.dtype} (try runtime.precision: float32)"
        )
