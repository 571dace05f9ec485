"""Eq. 1 (contrastive loss over ranked candidates), BRIO's cross-entropy, and Eq. 3, their sum.

Pure functions of tensors: no model, no file, no global state.
"""

import math
from typing import Any, Literal

from brido.utils.arguments import as_number, check_choices
from brido.utils.errors import ArgumentError
from brido.utils.extras import extra

with extra("torch"):
    import torch
    from torch import Tensor

MarginKind = Literal["difference", "fixed"]
Reduction = Literal["listing", "sum"]


def contrastive_loss(
    log_likelihood: Tensor,
    scores: Tensor,
    margin: float,
    margin_kind: MarginKind = "difference",
    reduction: Reduction = "listing",
    gold_log_likelihood: Tensor | None = None,
    gold_margin: float = 0.0,
    gold_weight: float = 0.0,
    eligible: Tensor | None = None,
) -> Tensor:
    """The ranking loss of Eq. 1, a scalar: every better candidate should be the likelier one.

    log_likelihood [B, N] is f(S), scores [B, N] the consensus scores. Candidates may stand in any
    order: they are ranked by their scores, equal ones as they stand. Of the best first, the pair
    i < j costs max(0, f(S_j) - f(S_i) + m_ij), where m_ij is (score_i - score_j) * margin
    (`difference`) or (j - i) * margin (`fixed`).

    `listing`, the paper's code: for every offset d = j - i the mean over the batch and the N - d
    pairs, summed over offsets. `sum`, Eq. 1 as printed: all pairs, then the mean over documents.

    With gold_weight > 0 the reference, of likelihood gold_log_likelihood [B], should beat every
    candidate by gold_margin: gold_weight times the mean over batch and candidates (`listing`), or
    the sum over candidates and the mean over documents (`sum`).

    One document, f = (-1.0, -0.5, -2.0), scores (0.5, 0.3, 0.1), margin 1, `difference`:

        (1,2): max(0, -0.5 + 1.0 + 0.2) = 0.7     (2,3): max(0, -2.0 + 0.5 + 0.2) = 0
        (1,3): max(0, -2.0 + 1.0 + 0.4) = 0

    `sum` gives 0.7; `listing` gives (0.7 + 0) / 2 + 0 / 1 = 0.35.

    eligible [B, N] bool: a candidate with False is as if it were not there: it is in no pair, and
    ranks, offsets and means count the others. Of a document with fewer than two nothing remains but
    its place among the documents; likelihood and score of such a candidate must be finite.

    Raises:
        ArgumentError: something is not a number, shapes do not fit or are empty, a margin or
            gold_weight is negative or not finite, eligible is not boolean, the kind or reduction is
            unknown, or gold_weight lacks gold_log_likelihood.

    Example:
        >>> f, scores = torch.tensor([[-1.0, -0.5, -2.0]]), torch.tensor([[0.5, 0.3, 0.1]])
        >>> contrastive_loss(f, scores, margin=1.0)
        tensor(0.3500)
    """
    log_likelihood = _floating("log_likelihood", log_likelihood)
    scores = _floating("scores", scores).to(log_likelihood.device)
    if gold_log_likelihood is not None:
        gold_log_likelihood = _floating("gold_log_likelihood", gold_log_likelihood)
    _check(log_likelihood, scores, margin_kind, reduction, gold_log_likelihood, gold_weight)
    _check_numbers(margin=margin, gold_margin=gold_margin, gold_weight=gold_weight)
    eligible = _boolean("eligible", eligible, log_likelihood)
    # Callers may give candidates in any order; sorting what is sorted changes nothing.
    order = scores.argsort(dim=1, descending=True, stable=True)
    log_likelihood, scores, eligible = (
        part.gather(1, order) for part in (log_likelihood, scores, eligible)
    )
    documents, candidates = len(log_likelihood), eligible.sum(1)
    rank = eligible.cumsum(1) - 1
    offset = rank[:, None, :] - rank[:, :, None]
    if margin_kind == "difference":
        required = (scores[:, :, None] - scores[:, None, :]) * margin
    else:
        required = offset.to(log_likelihood.dtype) * margin
    required = required.to(log_likelihood.dtype)
    violation = log_likelihood[:, None, :] - log_likelihood[:, :, None] + required
    # A pair at offset d is one of N - d; the weight undoes that where the listing takes a mean.
    pairs = (offset > 0) & eligible[:, :, None] & eligible[:, None, :]
    weight = pairs.to(log_likelihood.dtype)
    if reduction == "listing":
        weight = weight / (candidates[:, None, None] - offset.clamp(min=1)).clamp(min=1)
    loss = (violation.clamp(min=0) * weight).sum() / documents
    if gold_log_likelihood is None or gold_weight == 0:
        return loss
    gold = (log_likelihood - gold_log_likelihood[:, None] + gold_margin).clamp(min=0) * eligible
    if reduction == "listing":
        gold = gold / candidates[:, None].clamp(min=1)
    gold_loss = gold.sum() / documents
    return loss + gold_weight * gold_loss


def smoothed_cross_entropy(
    log_probability: Tensor, mean_log_probability: Tensor, tokens: Tensor | float, smoothing: float
) -> Tensor:
    """BRIO's label-smoothed cross-entropy, a scalar in nats per token.

    log_probability: sums (of any shape) over scored tokens of log p(token); mean_log_probability:
    the same sums of the mean of log p(v) over all V entries v of the vocabulary; tokens: how many
    were scored. The target puts 1 - smoothing + smoothing / V on the token and smoothing / V on
    every other entry. So a token's loss is
    -((1 - smoothing) * log p(token) + smoothing * mean_v log p(v)), and the mean is over all tokens
    of the batch but padding.

    Example:
        >>> sums, means = torch.tensor([-6.0, -4.0]), torch.tensor([-12.0, -8.0])
        >>> smoothed_cross_entropy(sums, means, torch.tensor([3, 2]), smoothing=0.1)
        tensor(2.2000)
    """
    total = (1 - smoothing) * log_probability.sum() + smoothing * mean_log_probability.sum()
    count = tokens.sum() if isinstance(tokens, Tensor) else tokens
    return -total / count


def combined_loss(cross_entropy: Tensor, contrastive: Tensor | float, gamma: float) -> Tensor:
    """Eq. 3: cross_entropy + gamma * contrastive, scalars. gamma 0 is maximum likelihood alone.

    Example:
        >>> combined_loss(torch.tensor(2.0), torch.tensor(0.5), gamma=10.0)
        tensor(7.)
    """
    return cross_entropy + gamma * contrastive


def _tensor(name: str, values: Any) -> Tensor:
    try:
        return torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArgumentError(f"{name} must be a tensor: {error}") from None


def _floating(name: str, values: Any) -> Tensor:
    tensor = _tensor(name, values)
    if not tensor.is_floating_point():
        raise ArgumentError(f"{name} must hold floating-point numbers, not {tensor.dtype}")
    return tensor


def _check(
    log_likelihood: Tensor,
    scores: Tensor,
    margin_kind: str,
    reduction: str,
    gold: Tensor | None,
    gold_weight: float,
) -> None:
    if log_likelihood.ndim != 2 or scores.shape != log_likelihood.shape:
        raise ArgumentError(
            "log_likelihood and scores must both be [documents, candidates], not "
            f"{list(log_likelihood.shape)} and {list(scores.shape)}"
        )
    if not log_likelihood.numel():
        raise ArgumentError(
            f"log_likelihood is empty, {list(log_likelihood.shape)}: at least one document and one "
            "candidate are needed"
        )
    check_choices(
        {
            "margin_kind": (margin_kind, ("difference", "fixed")),
            "reduction": (reduction, ("listing", "sum")),
        }
    )
    if gold_weight and gold is None:
        raise ArgumentError("gold_weight needs gold_log_likelihood")
    if gold is not None and gold.shape != log_likelihood.shape[:1]:
        raise ArgumentError(
            f"gold_log_likelihood must be [{log_likelihood.shape[0]}], not {list(gold.shape)}"
        )


def _check_numbers(**numbers: float) -> None:
    for name, number in numbers.items():
        if not 0 <= as_number(name, number) < math.inf:
            raise ArgumentError(f"{name} must be a finite number from 0, not {number}")


def _boolean(name: str, values: Any, like: Tensor) -> Tensor:
    if values is None:
        return torch.ones_like(like, dtype=torch.bool)
    tensor = _tensor(name, values)
    if tensor.dtype != torch.bool or tensor.shape != like.shape:
        raise ArgumentError(
            f"{name} must be boolean, {list(like.shape)}, not {tensor.dtype}, {list(tensor.shape)}"
        )
    return tensor.to(like.device)
