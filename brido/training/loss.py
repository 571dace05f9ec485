"""Eq. 1 over a document's candidates, BRIO's cross-entropy, and Eq. 3, their weighted sum.

`ContrastiveLoss` computes Eq. 3 of a batch: what one forward and backward pass of training runs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, get_args

from brido.utils.errors import ArgumentError
from brido.utils.extras import extra

with extra():
    import torch
    from torch import Tensor

    from brido.likelihood.likelihood import normalized, sequence_statistics
    from brido.training.task import Loss, LossParts

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from brido.training.batches import Batch
    from brido.training.settings import TrainingSettings

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
    """The ranking loss of Eq. 1, a scalar: the better of two candidates should be the likelier.

    log_likelihood [B, N] is f(S), scores [B, N] the consensus scores. Candidates come in any order
    and are ranked here, best score first; equal scores stay as they are. The pair i < j costs
    max(0, f(S_j) - f(S_i) + m_ij), where m_ij is (score_i - score_j) * margin (`difference`) or
    (j - i) * margin (`fixed`). `sum`, Eq. 1 as printed, adds all pairs of a document. `listing`,
    the paper's code, takes for every offset d = j - i the mean of its N - d pairs, and adds these.
    The loss is the mean over documents.

    One document, f = (-1.0, -0.5, -2.0), scores (0.5, 0.3, 0.1), margin 1, `difference`:

        (1,2): max(0, -0.5 + 1.0 + 0.2) = 0.7     (2,3): max(0, -2.0 + 0.5 + 0.2) = 0
        (1,3): max(0, -2.0 + 1.0 + 0.4) = 0

    `sum` gives 0.7; `listing` gives (0.7 + 0) / 2 + 0 / 1 = 0.35.

    eligible [B, N] bool: a candidate with False is as if it were not there, but its numbers must be
    finite; a document with fewer than two costs 0. With gold_weight > 0 the reference, of
    likelihood gold_log_likelihood [B], should beat every candidate by gold_margin: gold_weight
    times the mean (`listing`) or the sum over candidates is added. NaN likelihoods give NaN.

    Raises:
        ArgumentError: shapes do not fit or are empty, scores on a processor are NaN, a margin or
            gold_weight is negative or not finite, eligible is not boolean, the kind or reduction is
            unknown, or gold_weight lacks gold_log_likelihood.

    Example:
        >>> f, scores = torch.tensor([[-1.0, -0.5, -2.0]]), torch.tensor([[0.5, 0.3, 0.1]])
        >>> contrastive_loss(f, scores, margin=1.0)
        tensor(0.3500)
    """
    if margin_kind not in get_args(MarginKind) or reduction not in get_args(Reduction):
        raise ArgumentError(
            f"margin_kind is one of {get_args(MarginKind)} and reduction one of "
            f"{get_args(Reduction)}, not {margin_kind!r} and {reduction!r}"
        )
    numbers = {"margin": margin, "gold_margin": gold_margin, "gold_weight": gold_weight}
    for name, number in numbers.items():
        if not 0 <= number < math.inf:
            raise ArgumentError(f"{name} must be a finite number from 0, not {number}")
    likelihood, scores, eligible = _candidates(log_likelihood, scores, eligible)
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
    count = eligible.sum(1)
    if reduction == "listing":
        # N - d pairs have the offset d: each weighs 1 / (N - d), so that their sum is a mean.
        weight = weight / (count[:, None, None] - offset).clamp(min=1)
    loss = (violation.clamp(min=0) * weight).sum() / len(scores)
    if not gold_weight:
        return loss
    if gold_log_likelihood is None:
        raise ArgumentError("gold_weight needs gold_log_likelihood")
    gold = torch.as_tensor(gold_log_likelihood).to(likelihood.device)
    if gold.shape != likelihood.shape[:1]:
        raise ArgumentError(f"gold_log_likelihood must be [{len(scores)}], not {list(gold.shape)}")
    missed = (likelihood - gold[:, None] + gold_margin).clamp(min=0) * eligible
    if reduction == "listing":
        missed = missed / count[:, None].clamp(min=1)
    return loss + gold_weight * (missed.sum() / len(scores))


def _candidates(log_likelihood: Any, scores: Any, eligible: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The three as tensors [B, N] on one device; to look at an accelerator's numbers would wait."""
    try:
        likelihood, scores = torch.as_tensor(log_likelihood), torch.as_tensor(scores)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArgumentError(f"log_likelihood and scores must be tensors: {error}") from None
    if likelihood.ndim != 2 or not likelihood.numel() or scores.shape != likelihood.shape:
        raise ArgumentError(
            "log_likelihood and scores must be [documents, candidates], alike and not empty, not "
            f"{list(likelihood.shape)} and {list(scores.shape)}"
        )
    if scores.device.type == "cpu" and scores.isnan().any():
        raise ArgumentError("scores contain NaN: write 0 there, and False in `eligible`")
    if eligible is None:
        eligible = torch.ones_like(likelihood, dtype=torch.bool)
    if getattr(eligible, "dtype", None) != torch.bool or eligible.shape != likelihood.shape:
        raise ArgumentError(f"eligible must be a boolean tensor {list(likelihood.shape)}")
    return likelihood, scores.to(likelihood.device), eligible.to(likelihood.device)


def smoothed_cross_entropy(
    log_probability: Tensor, mean_log_probability: Tensor, tokens: Tensor | float, smoothing: float
) -> Tensor:
    """BRIO's label-smoothed cross-entropy, a scalar in nats per token.

    The mean over scored tokens of -((1 - smoothing) * log p(token) + smoothing * mean_v log p(v)):
    the target puts smoothing / V on each of the V entries v of the vocabulary, and the rest on the
    token. log_probability, mean_log_probability: sums, of any shape, of log p(token) and of
    mean_v log p(v) over the `tokens`.

    Example:
        >>> sums, means = torch.tensor([-6.0, -4.0]), torch.tensor([-12.0, -8.0])
        >>> smoothed_cross_entropy(sums, means, torch.tensor([3, 2]), smoothing=0.1)
        tensor(2.2000)
    """
    total = (1 - smoothing) * log_probability.sum() + smoothing * mean_log_probability.sum()
    count = tokens.sum() if isinstance(tokens, Tensor) else tokens
    return -total / count


def combined_loss(cross_entropy: Tensor, contrastive: Tensor | float, gamma: float) -> Tensor:
    """Eq. 3: cross_entropy + gamma * contrastive, scalars; gamma 0: maximum likelihood alone.

    Example:
        >>> combined_loss(torch.tensor(2.0), torch.tensor(0.5), gamma=10.0)
        tensor(7.)
    """
    return cross_entropy + gamma * contrastive


class ContrastiveLoss(Loss):
    """Eq. 3: the cross-entropy of a text of each document, and Eq. 1 over its candidates.

    Averages are over the whole update, not over the documents at hand: `forward` divides by the
    update's reference tokens and documents. However an update is cut into chunks and processes, the
    sum of their losses and gradients is the same.
    """

    def __init__(self, model: PreTrainedModel, settings: TrainingSettings) -> None:
        super().__init__(model)
        self.settings = settings

    def forward(
        self, batch: Batch, tokens: int, documents: int, micro_batch: int | None = None
    ) -> LossParts:
        """The batch's part of the loss of an update with `documents` and reference `tokens`."""
        settings, sources, targets = self.settings, batch.sources, batch.targets
        sums = sequence_statistics(
            self.model, sources.ids, sources.mask, targets.ids, targets.lengths, micro_batch
        )
        cross_entropy = smoothed_cross_entropy(
            sums.log_probability[:, 0],
            sums.mean_log_probability[:, 0],
            float(tokens),
            settings.label_smoothing,
        )
        contrastive = torch.zeros_like(cross_entropy)
        if batch.scores.shape[1]:
            likelihood = normalized(sums, settings.length_penalty) * settings.likelihood_scale
            contrastive = contrastive_loss(
                likelihood[:, 1:],
                batch.scores,
                settings.margin,
                settings.margin_kind,
                settings.reduction,
                likelihood[:, 0],
                settings.gold_margin,
                settings.gold_weight,
                batch.eligible,
            ) * (len(batch.scores) / documents)
        loss = combined_loss(cross_entropy, contrastive, settings.gamma)
        return LossParts(loss, cross_entropy.detach(), contrastive.detach())
