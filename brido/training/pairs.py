"""Batches of (document, summary) pairs and their cross-entropy, for either kind of model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from brido.likelihood.likelihood import sequence_statistics
from brido.models.corpus_tokenizer import EOS, PAD
from brido.training.step import StepLoss

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class PairBatch(NamedTuple):
    """B sources [B, S] and summaries [B, T], both padded with PAD."""

    sources: Tensor
    labels: Tensor

    @property
    def tokens(self) -> int:
        """How many tokens are read and scored."""
        return int((self.sources != PAD).sum() + (self.labels != PAD).sum())

    def to(self, device: torch.device) -> PairBatch:
        """The same batch on `device`."""
        return PairBatch(self.sources.to(device), self.labels.to(device))


class PairStep(nn.Module):
    """The cross-entropy of a batch, a mean over its summaries' tokens."""

    def __init__(self, model: PreTrainedModel, label_smoothing: float) -> None:
        super().__init__()
        self.model, self.label_smoothing = model, label_smoothing

    def forward(self, batch: PairBatch, micro_batch: int | None = None) -> StepLoss:
        """The loss; there are no candidates that could run apart."""
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


class PromptStep(PairStep):
    """The same for a decoder-only model: its prompts end in EOS, and the summary stands behind."""

    def forward(self, batch: PairBatch, micro_batch: int | None = None) -> StepLoss:
        """See PairStep."""
        lengths = (batch.labels != PAD).sum(1, keepdim=True)
        rows = torch.cat([torch.full_like(batch.labels[:, :1], EOS), batch.labels], dim=1)
        mask = (batch.sources != PAD).long()
        found = sequence_statistics(self.model, batch.sources, mask, rows[:, None], lengths)
        smoothing = self.label_smoothing
        likelihood = (1 - smoothing) * found.log_probability + smoothing * (
            found.mean_log_probability
        )
        loss = -likelihood.sum() / found.tokens.sum()
        return StepLoss(loss, loss.detach(), torch.zeros_like(loss))
