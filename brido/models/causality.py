"""Whether a model of an unknown family predicts a token from the tokens before it alone.

A likelihood of many candidates in one pass needs that. Some models look ahead in a pass over whole
texts (ProphetNet), or lose their mask of later tokens (FSMT): what they then give to a candidate
depends on what follows, and on the candidates beside it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor
from transformers import PreTrainedModel

from brido.utils.errors import BridoError

_TOKENS = 6
# Kernels may round otherwise in the last places; a look ahead changes logits by a share of them.
_ROUNDING = {torch.float64: 1e-8, torch.float32: 1e-3}
_HALF = 0.05
_CHECKED: WeakSet[PreTrainedModel] = WeakSet()


def check_causal(
    model: PreTrainedModel, given: Tensor, logits_of: Callable[[Tensor], Tensor]
) -> None:
    """Change and cut off the end of a text and see that the logits before it stay; once a model.

    given [B, 1]: tokens that texts begin with. logits_of: the model's logits [n, T, V] of texts
    [n, T] of one source.

    Raises:
        BridoError: they do not stay.
    """
    if model in _CHECKED:
        return
    instead = " (it can write candidates)" if model.config.is_encoder_decoder else ", nor write"
    texts = _texts(model, given)
    with torch.no_grad(), _without_dropout(model):
        whole = logits_of(texts)[:, : _TOKENS // 2].double()
        cut = logits_of(texts[:1, : _TOKENS // 2]).double()
    allowed = _ROUNDING.get(model.dtype, _HALF) * whole.std().item()
    if (whole - cut).abs().max().item() > allowed:
        raise BridoError(
            f"the {model.config.model_type} model gives a token another probability when later "
            "tokens change, so the likelihood of a candidate would depend on the candidates beside "
            f"it: it cannot score or be tuned{instead}"
        )
    _CHECKED.add(model)


def _texts(model: PreTrainedModel, given: Tensor) -> Tensor:
    """Two texts that begin alike and end in other tokens, [2, _TOKENS]."""
    embeddings: Any = model.get_input_embeddings()
    size = embeddings.weight.shape[0]
    places = torch.arange(_TOKENS, device=given.device)
    rows = torch.stack([7 + 5 * places, 7 + 5 * places]) % size
    rows[1, _TOKENS // 2 :] = (rows[1, _TOKENS // 2 :] + size // 2) % size
    rows[:, 0] = given[0, 0]
    return rows


@contextmanager
def _without_dropout(model: PreTrainedModel) -> Iterator[None]:
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True
