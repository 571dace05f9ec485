"""From the logits of the next token to the one that is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from brido.search.settings import TruncationSettings

# Tokens looked at before a whole row is sorted: there are rarely more to choose from.
FIRST_LOOK = 512

# Takes probabilities [R, L], the largest first, and the mass [R, 1] of what the rules before left;
# returns what to keep, [R, L]: the first so many of each row.
Rule = Callable[[Tensor, Tensor], Tensor]


def draw(logits: Tensor, settings: TruncationSettings, uniforms: Tensor) -> Tensor:
    """One token a row of logits [R, V], drawn from those that the settings leave.

    uniforms: [R] in [0, 1); equal numbers draw equal tokens. What is left is what transformers'
    warpers leave, in their order: temperature, top_k, top_p, min_p.
    """
    probabilities = (logits / settings.temperature).softmax(-1)
    rules, size = list(_rules(settings)), logits.shape[1]
    if not rules:  # nothing is left out: no order is needed, and a vocabulary is long to sort
        return _place(probabilities.double(), uniforms)
    top, tokens = probabilities.topk(min(FIRST_LOOK, size), dim=1)
    kept = _kept(top, rules, whole=top.shape[1] == size)
    if bool(kept[:, -1].any()) and top.shape[1] < size:
        top, tokens = probabilities.sort(dim=1, descending=True)
        kept = _kept(top, rules, whole=True)
    place = _place(torch.where(kept, top.double(), 0.0), uniforms)
    return tokens.gather(1, place[:, None])[:, 0]


def _place(weights: Tensor, uniforms: Tensor) -> Tensor:
    """Where in its row of weights [R, L] each number falls: never on a weight of 0."""
    sums = weights.cumsum(1)
    total = sums[:, -1:].contiguous()
    place = torch.searchsorted(sums, uniforms[:, None] * total, right=True)
    # A number that rounding took to the sum's end belongs to the weight that completes it.
    last = torch.searchsorted(sums, total).clamp(max=weights.shape[1] - 1)
    return place.minimum(last)[:, 0]


def _kept(top: Tensor, rules: list[Rule], whole: bool) -> Tensor:
    """What the rules leave of probabilities [R, L], the largest first: the first so many.

    Where they are not whole rows and one is kept to its end, more must be seen to know.
    """
    top = top.double()
    kept, mass = top > 0, torch.ones_like(top[:, :1])
    for rule in rules:
        kept = kept & rule(top, mass)
        if not whole and bool(kept[:, -1].any()):
            break
        mass = torch.where(kept, top, 0.0).sum(1, keepdim=True)
    return kept


def _rules(settings: TruncationSettings) -> Iterator[Rule]:
    """What the settings ask for. (top_p: Holtzman et al., 2020; top_k: Fan et al., 2018; min_p:
    Nguyen et al., 2025.)"""
    if settings.top_k:
        yield lambda top, mass: top >= top[:, : settings.top_k][:, -1:]
    if settings.top_p < 1:
        yield lambda top, mass: top.cumsum(1) - top < settings.top_p * mass
    if settings.min_p:
        yield lambda top, mass: top >= settings.min_p * top[:, :1]
