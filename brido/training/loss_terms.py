"""The arithmetic of the losses over candidates, of arguments that fit: nothing is checked.

`brido.training.loss` describes and checks what is computed here. The training step calls these
functions themselves: to look at an accelerator's numbers is to wait for them.
"""

import math
from typing import Literal

import torch
from torch import Tensor

MarginKind = Literal["difference", "fixed"]
Reduction = Literal["listing", "sum"]


def ranking_term(
    likelihood: Tensor,
    scores: Tensor,
    eligible: Tensor,
    margin: float,
    margin_kind: MarginKind,
    reduction: Reduction,
) -> Tensor:
    """Eq. 1 of f(S), scores, eligible [B, N]; see `brido.training.loss.contrastive_loss`."""
    best_first = scores.argsort(dim=1, descending=True, stable=True)
    likelihood, scores, eligible = (
        part.gather(1, best_first) for part in (likelihood, scores, eligible)
    )
    # Below, [B, i, j] is a pair: candidate i is the better one where the offset j - i is positive.
    rank = eligible.cumsum(1) - 1
    offset = rank[:, None, :] - rank[:, :, None]
    if margin_kind == "difference":
        required = (scores[:, :, None] - scores[:, None, :]) * margin
    else:
        required = offset.to(likelihood.dtype) * margin
    violation = likelihood[:, None, :] - likelihood[:, :, None] + required.to(likelihood.dtype)
    pairs = (offset > 0) & eligible[:, :, None] & eligible[:, None, :]
    weight = pairs.to(likelihood.dtype)
    if reduction == "listing":
        # N - d pairs have the offset d: each weighs 1 / (N - d), so that their sum is a mean.
        candidates = eligible.sum(1)[:, None, None]
        weight = weight / (candidates - offset.clamp(min=1)).clamp(min=1)
    return (violation.clamp(min=0) * weight).sum() / len(scores)


def gold_term(
    likelihood: Tensor, gold: Tensor, eligible: Tensor, margin: float, reduction: Reduction
) -> Tensor:
    """BRIO's term of f(S), eligible [B, N] and gold [B], f of the reference: by how much candidates
    miss being `margin` below it."""
    violation = (likelihood - gold[:, None] + margin).clamp(min=0) * eligible
    if reduction == "listing":
        violation = violation / eligible.sum(1, keepdim=True).clamp(min=1)
    return violation.sum() / len(likelihood)


def spread_term(likelihood: Tensor, eligible: Tensor) -> Tensor:
    """The variance of f(S) within a document; see `brido.training.loss.spread_loss`."""
    count = eligible.sum(1, keepdim=True).clamp(min=1)
    mean = (likelihood * eligible).sum(1, keepdim=True) / count
    return ((likelihood - mean).square() * eligible / count).sum() / len(likelihood)


def listwise_term(
    log_ratio: Tensor,
    scores: Tensor,
    eligible: Tensor,
    temperature: float,
    log_ratio_scale: float,
) -> Tensor:
    """InfoNCA of log_ratio [B, N], log p - log p_base; see `brido.training.loss.listwise_loss`."""
    # Where no candidate is eligible all are listed, so that the logarithms exist; none is wanted.
    listed = eligible | ~eligible.any(1, keepdim=True)
    log_share = _among(listed, log_ratio * log_ratio_scale).log_softmax(1)
    z = _standardised(scores, listed)
    # 0 for the best, because a highest z over a tiny temperature could be infinite.
    wanted = _among(listed, (z - z.amax(1, keepdim=True)) / temperature).softmax(1) * eligible
    # A share of 0 has the logarithm -inf, which the wanted 0 would turn into NaN.
    log_share = log_share.masked_fill(~listed, 0.0)
    return -(wanted.to(log_share.dtype) * log_share).sum() / len(scores)


def _among(listed: Tensor, values: Tensor) -> Tensor:
    """The values, of which a softmax leaves nothing to those that are not listed."""
    return values.masked_fill(~listed, -math.inf)


@torch.no_grad()
def _standardised(scores: Tensor, listed: Tensor) -> Tensor:
    """z [B, N], (score - mean) / population standard deviation of the listed; 0 for all others, and
    where all scores of a document are equal."""
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    low = scores.masked_fill(~listed, math.inf).amin(1, keepdim=True)
    extent = scores.masked_fill(~listed, -math.inf).amax(1, keepdim=True) - low
    # Measured from the lowest in units of the extent: orders may be dealt equal scores that differ
    # by their last bit, which a subtraction of their mean would lose.
    place = (scores - low) / extent.where(extent > 0, 1.0) * listed
    count = listed.sum(1, keepdim=True)
    centred = (place - place.sum(1, keepdim=True) / count) * listed
    deviation = (centred.square().sum(1, keepdim=True) / count).sqrt()
    return centred / deviation.where(extent > 0, 1.0)
