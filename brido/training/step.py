"""The loss of a chunk of documents: what one forward and backward pass computes.

A step is a module around the model, so that accelerate and FSDP can wrap it.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from brido.likelihood.likelihood import SequenceStatistics, normalized, sequence_statistics
from brido.models.embedded import EOS, PAD
from brido.training.batches import Batch, SummaryBatch
from brido.training.loss import combined_loss, smoothed_cross_entropy
from brido.training.loss_terms import gold_term, listwise_term, ranking_term, spread_term
from brido.training.settings import TrainingSettings

Found = TypeVar("Found")


class StepLoss(NamedTuple):
    """A part of an update's loss (Eq. 3) and of its two terms; the parts of an update add up.

    contrastive: the loss over candidates, whichever `training.loss` is.
    """

    loss: Tensor
    cross_entropy: Tensor
    contrastive: Tensor


class Step(nn.Module):
    """A loss around `model`: forward(batch, *totals, micro_batch) -> StepLoss."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def call(self, function: Callable[[], Found]) -> Found:
        """Return what the function returns: a second way into the module, besides `forward`, for
        code that runs a sharded model (see `brido.training.parallel`)."""
        return function()


class ContrastiveStep(Step):
    """Eq. 3: the cross-entropy of a text of each document and `training.loss` over its candidates.

    Averages are over the whole update, not over the documents at hand: `forward` divides by the
    update's reference tokens and documents. However an update is cut into chunks and processes, the
    sum of their losses and gradients is the same.
    """

    def __init__(self, model: PreTrainedModel, settings: TrainingSettings) -> None:
        super().__init__(model)
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

    def _contrastive(self, statistics: SequenceStatistics, batch: Batch) -> Tensor:
        # The terms themselves: the checks of `brido.training.loss` would wait for an accelerator,
        # and the loop looks at the whole loss once an update.
        settings, scores, eligible = self.settings, batch.scores, batch.eligible
        likelihood = normalized(statistics, settings.compared_length_penalty)
        if batch.anchor is not None:
            likelihood = likelihood - batch.anchor
        gold, likelihood = likelihood[:, 0], likelihood[:, 1:]
        if settings.loss == "listwise":
            scale = settings.log_ratio_scale
            return listwise_term(likelihood, scores, eligible, settings.temperature, scale)
        likelihood = likelihood * settings.likelihood_scale
        if settings.loss == "spread":
            return spread_term(likelihood, eligible)
        kind, reduction = settings.margin_kind, settings.reduction
        loss = ranking_term(likelihood, scores, eligible, settings.margin, kind, reduction)
        if not settings.gold_weight:
            return loss
        gold = gold * settings.likelihood_scale
        missed = gold_term(likelihood, gold, eligible, settings.gold_margin, reduction)
        return loss + settings.gold_weight * missed


class SummaryStep(Step):
    """The cross-entropy of (document, summary) pairs, a mean over the summaries' tokens."""

    def __init__(self, model: PreTrainedModel, label_smoothing: float) -> None:
        super().__init__(model)
        self.label_smoothing = label_smoothing

    def forward(self, batch: SummaryBatch, micro_batch: int | None = None) -> StepLoss:
        """The loss; micro_batch changes nothing, because there are no candidates."""
        start = torch.full_like(batch.labels[:, :1], EOS)
        logits = self.model(
            input_ids=batch.sources,
            attention_mask=(batch.sources != PAD).long(),
            decoder_input_ids=torch.cat([start, batch.labels[:, :-1]], dim=1),
            use_cache=False,
        ).logits
        loss = functional.cross_entropy(
            logits.flatten(0, 1),
            batch.labels.flatten(),
            ignore_index=PAD,
            label_smoothing=self.label_smoothing,
        )
        return StepLoss(loss, loss.detach(), torch.zeros_like(loss))
