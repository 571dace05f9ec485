"""Contrastive training of a language model on ranked candidates, as a task of the loop."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import torch
from torch import nn
from torch.optim import Optimizer
from transformers import PreTrainedModel

from brido.models.language_model import LanguageModel
from brido.training.batches import (
    Batch,
    Batches,
    RankedDocument,
    RankedDocuments,
    SummaryPairs,
    UpdatePlan,
    learning_rate,
)
from brido.training.loss import ContrastiveLoss
from brido.training.settings import TrainingSettings
from brido.training.task import Task, UpdateData
from brido.training.validation import MeasureSample, validate_ranker
from brido.work.settings import RuntimeSettings

# Documents whose texts are measured before training; a larger share of cut texts is a warning.
LOOKED_AT, MANY_CUT = 200, 0.05


@dataclass
class ContrastiveTask(Task):
    """Eq. 3 on `documents`, of which gamma 0 leaves maximum likelihood alone.

    validation: documents that are ranked at each validation; None: nothing is. history_file is
    metrics/training/NAME.csv. `generator` decodes a sample at each validation, or is None.
    """

    language: LanguageModel
    documents: RankedDocuments | SummaryPairs
    validation: Sequence[RankedDocument] | None
    settings: TrainingSettings
    runtime: RuntimeSettings
    folder: Path
    history_file: Path | None = None
    generator: MeasureSample | None = None
    name: str = "train"
    key: str = "training"
    remedy: str = (
        "Lower training.learning_rate or training.gamma, or set training.max_gradient_norm"
    )

    def __post_init__(self) -> None:
        settings = self.settings
        self.model: PreTrainedModel = self.language.model
        self.seed, self.keep = settings.seed, settings.keep
        self.every, self.max_gradient_norm = settings.validation.every, settings.max_gradient_norm
        self.sequences = 1 + self.documents.num_candidates
        limit = "max_candidate_tokens" if self.sequences > 1 else "max_summary_tokens"
        self.batches = Batches(
            self.language,
            settings.max_candidate_tokens,
            elected=settings.cross_entropy == "elected",
            key=f"{self.key}.{limit}",
        )
        # Documents with all their candidates within runtime.batch_tokens, at least 1.
        longest = self.language.reading.max_source_tokens
        tokens = longest + self.sequences * settings.max_candidate_tokens
        fitting = min(settings.batch_size, self.runtime.batch_tokens // tokens)
        self.documents_at_once = max(1, fitting)
        plan = UpdatePlan(len(self.documents), settings.batch_size, settings.epochs, settings.seed)
        self.plan = plan
        self.updates, self.updates_per_epoch = plan.updates, plan.updates_per_epoch
        self.rate = partial(
            learning_rate,
            total=self.updates,
            highest=settings.learning_rate,
            warmup=warmup_updates(settings.warmup_steps, self.updates),
            schedule=settings.schedule,
        )

    @cached_property
    def chunk_size(self) -> int:
        """Documents of a chunk. Dropout masks belong to a chunk, so with dropout it is one: a
        runtime setting must not change them."""
        return 1 if is_random(self.model) else self.documents_at_once

    def examples(self, update: int) -> UpdateData:
        """See Task; `totals` are the reference tokens and the documents of the update."""
        documents = [self.documents[index] for index in self.plan.indices(update)]
        size = self.chunk_size
        chunks = [documents[start : start + size] for start in range(0, len(documents), size)]
        return UpdateData(chunks, (self.batches.target_tokens(documents), len(documents)))

    def batch(self, chunk: Sequence[RankedDocument]) -> Batch:
        return self.batches.batch(chunk, candidates=self.settings.gamma > 0)

    def optimizer(self, weights: list[nn.Parameter]) -> Optimizer:
        kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
        kind = kinds[self.settings.optimizer]
        return kind(weights, lr=self.rate(1), weight_decay=self.settings.weight_decay)

    def loss(self) -> ContrastiveLoss:
        return ContrastiveLoss(self.model, self.settings)

    def measures(self, micro_batch: int | None) -> dict[str, float]:
        if self.validation is None:
            return {}
        found = validate_ranker(
            self.model,
            self.batches,
            self.validation,
            self.settings.length_penalty,
            self.documents_at_once,
            micro_batch,
        )
        return found | (self.generator(self.language) if self.generator else {})

    def warnings(self) -> Iterator[str]:
        step = max(1, len(self.documents) // LOOKED_AT)
        documents = [self.documents[place] for place in range(0, len(self.documents), step)]
        batches = self.batches
        if (cut := batches.cut_share(documents)) > MANY_CUT:
            yield (
                f"{batches.key}: {cut:.0%} of the texts of {len(documents):,} documents are longer "
                f"than {batches.max_candidate_tokens} tokens and cut there, so the model learns to "
                "stop in the middle of a sentence: increase it"
            )

    def problems(self) -> Iterator[str]:
        if not self.documents or self.validation == []:
            yield (
                "there is nothing to rank: each document of a split has fewer than two distinct "
                "candidates that can be elected"
            )
        if self.settings.gold_weight and self.documents.unlabelled:
            yield (
                f"training.gold_weight: {self.documents.unlabelled:,} documents have no reference "
                "that could be preferred: set it to 0"
            )


def is_random(model: PreTrainedModel) -> bool:
    """Whether the model's training passes draw random numbers."""
    config = model.config.to_dict()
    drops = (module.p for module in model.modules() if isinstance(module, nn.Dropout))
    keys = (key for key in config if "drop" in key and "classifier" not in key)
    return any(config[key] for key in keys) or any(drops)


def warmup_updates(warmup: float, total: int) -> int:
    """Return `warmup_steps` as updates of a run of `total`; below 1 it is the share of them."""
    return round(warmup * total) if warmup < 1 else int(warmup)
