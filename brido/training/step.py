"""The loss of some documents: what one forward and backward pass computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from brido.likelihood.likelihood import SequenceStatistics, normalized, sequence_statistics
from brido.training.batches import Batch
from brido.training.loss import combined_loss, contrastive_loss, smoothed_cross_entropy
from brido.training.settings import TrainingSettings

Found = TypeVar("Found")


class StepLoss(NamedTuple):
    """A part of an update's loss (Eq. 3) and of its two terms; the parts of an update add up."""

    loss: Tensor
    cross_entropy: Tensor
    contrastive: Tensor


class ContrastiveStep(nn.Module):
    """The training loss as a module around the model, so that accelerate can wrap it.

    Averages are over the whole update, not over the documents at hand: `forward` divides by the
    update's reference tokens and documents. However an update is cut into chunks and processes, the
    sum of their losses and gradients is the same.
    """

    def __init__(self, model: PreTrainedModel, settings: TrainingSettings) -> None:
        super().__init__()
        self.model = model
        self.settings = settings

    def forward(
        self, batch: Batch, tokens: int, documents: int, micro_batch: int | None = None
    ) -> StepLoss:
        """The batch's part of the loss of an update with `documents` and reference `tokens`."""
        statistics = sequence_statistics(
            self.model,
            batch.sources.ids,
            batch.sources.mask,
            batch.targets.ids,
            batch.targets.lengths,
            micro_batch,
        )
        cross_entropy = smoothed_cross_entropy(
            statistics.log_probability[:, 0],
            statistics.mean_log_probability[:, 0],
            float(tokens),
            self.settings.label_smoothing,
        )
        contrastive = torch.zeros_like(cross_entropy)
        if batch.scores.shape[1]:
            contrastive = self._contrastive(statistics, batch)
            contrastive = contrastive * (len(batch.scores) / documents)
        loss = combined_loss(cross_entropy, contrastive, self.settings.gamma)
        return StepLoss(loss, cross_entropy.detach(), contrastive.detach())

    def within(self, function: Callable[[], Found]) -> Found:
        """What the function returns: see `brido.training.sharding.inside`."""
        return function()

    def _contrastive(self, statistics: SequenceStatistics, batch: Batch) -> Tensor:
        settings = self.settings
        likelihood = normalized(statistics, settings.length_penalty)
        if batch.anchor is not None:
            likelihood = likelihood - batch.anchor
        likelihood = likelihood * settings.likelihood_scale
        return contrastive_loss(
            likelihood[:, 1:],
            batch.scores,
            settings.margin,
            settings.margin_kind,
            settings.reduction,
            gold_log_likelihood=likelihood[:, 0],
            gold_margin=settings.gold_margin,
            gold_weight=settings.gold_weight,
            eligible=batch.eligible,
        )
