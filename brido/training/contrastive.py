"""Contrastive training of a language model on ranked candidates, as a task of the loop."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import send_to_device
from transformers import PreTrainedModel

from brido.likelihood import candidate_log_likelihood
from brido.models.language_model import LanguageModel
from brido.training.anchor import Anchors, anchored, base_likelihoods
from brido.training.batches import Batch, Batches, UpdatePlan, learning_rate, warmup_updates
from brido.training.documents import RankedDocument, RankedDocuments, SummaryPairs
from brido.training.parallel import Parallel
from brido.training.settings import TrainingSettings
from brido.training.step import ContrastiveStep
from brido.training.task import OptimizerConfig, Task, UpdateData
from brido.training.validation import MeasureSample, validate_ranker
from brido.work.settings import RuntimeSettings

# Keys of a model's config that make its training passes random.
RANDOM_LAYERS = (
    "dropout",
    "attention_dropout",
    "activation_dropout",
    "dropout_rate",
    "encoder_layerdrop",
    "decoder_layerdrop",
)
# Documents whose texts are measured before training; a larger share of cut texts is a warning.
LOOKED_AT, MANY_CUT = 200, 0.05


def is_random(model: PreTrainedModel) -> bool:
    """Whether the model's training passes draw random numbers."""
    config = model.config.to_dict()
    drops = (module.p for module in model.modules() if isinstance(module, torch.nn.Dropout))
    return any(config.get(key) for key in RANDOM_LAYERS) or any(drops)


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
        settings, count = self.settings, len(self.documents)
        self.model: PreTrainedModel = self.language.model
        self.seed, self.keep = settings.seed, settings.keep
        self.every = settings.validation.every
        self.plan = UpdatePlan(count, settings.batch_size, settings.epochs, settings.seed)
        self.updates, self.updates_per_epoch = self.plan.updates, self.plan.updates_per_epoch
        self.sequences = 1 + self.documents.num_candidates
        self._anchors: Anchors | None = None

    @property
    def batches(self) -> Batches:
        """What turns documents into this model's tensors."""
        settings = self.settings
        elected = settings.cross_entropy == "elected"
        limit = "max_candidate_tokens" if self.sequences > 1 else "max_summary_tokens"
        key = f"{self.key}.{limit}"
        return Batches(self.language, settings.max_candidate_tokens, elected, key)

    @property
    def documents_at_once(self) -> int:
        """Documents with all their candidates within runtime.batch_tokens, at least 1."""
        settings = self.settings
        longest = self.language.reading.max_source_tokens
        tokens = longest + self.sequences * settings.max_candidate_tokens
        return max(1, min(settings.batch_size, self.runtime.batch_tokens // tokens))

    def optimizer(self) -> OptimizerConfig:
        settings = self.settings
        warmup = warmup_updates(settings.warmup_steps, self.updates)
        highest, schedule = settings.learning_rate, settings.schedule

        def rate(update: int) -> float:
            return learning_rate(update, self.updates, highest, warmup, schedule)

        return OptimizerConfig(
            settings.optimizer, settings.weight_decay, settings.max_gradient_norm, rate
        )

    def step(self) -> ContrastiveStep:
        return ContrastiveStep(self.model, self.settings)

    def prepare(self, parallel: Parallel) -> None:
        """See Task: the base's likelihoods."""
        if not self.settings.asks_base:
            return

        @torch.no_grad()
        def likelihoods(documents: Sequence[RankedDocument]) -> list[list[float]]:
            batch = send_to_device(self.batches.batch(documents), parallel.device)
            with parallel.accelerator.autocast():
                return candidate_log_likelihood(
                    self.model,
                    batch.sources.ids,
                    batch.sources.mask,
                    batch.targets.ids,
                    self.settings.compared_length_penalty,
                    batch.targets.lengths,
                    self.runtime.candidate_micro_batch,
                ).tolist()

        size = self.documents_at_once
        self.model.eval()
        self._anchors = base_likelihoods(
            likelihoods, self.documents, size, parallel, self.folder, self.name
        )
        self.model.train()

    def data(self, update: int) -> UpdateData:
        """See Task; `totals` are the reference tokens and the documents of the update."""
        documents = [self.documents[index] for index in self.plan.indices(update)]
        # Dropout masks belong to a chunk, so with dropout a runtime setting must not size it.
        size = 1 if is_random(self.model) else self.documents_at_once
        chunks = [documents[start : start + size] for start in range(0, len(documents), size)]
        return UpdateData(chunks, (self.batches.target_tokens(documents), len(documents)))

    def batch(self, chunk: Sequence[RankedDocument]) -> Batch:
        ranked = self.settings.gamma > 0
        batch = self.batches.batch(chunk, candidates=ranked)
        return anchored(batch, chunk, self._anchors) if ranked and self._anchors else batch

    def measures(self, autocast: Callable[[], Any]) -> dict[str, float]:
        if self.validation is None:
            return {}
        measures = validate_ranker(
            self.model,
            self.batches,
            self.validation,
            self.settings.length_penalty,
            self.documents_at_once,
            autocast,
        )
        if self.generator is not None:
            self.model.eval()
            with torch.no_grad(), autocast():
                measures |= self.generator(self.language)
            self.model.train()
        return measures

    def warnings(self) -> Iterator[str]:
        settings, key = self.settings, f"{self.key}.warmup_steps"
        warmup = warmup_updates(settings.warmup_steps, self.updates)
        if settings.schedule == "noam" and not warmup:
            yield (
                f"{key}: schedule noam without a warm-up begins at the rate "
                f"{settings.learning_rate:.2g}, which is meant as a factor: set warmup_steps, or "
                "use schedule linear"
            )
        if warmup > self.updates:
            yield (
                f"{key}: the warm-up ({warmup:,} updates) is longer than the run "
                f"({self.updates:,}): lower it, or train on more documents or epochs"
            )
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
        if self.keep == "best_generator" and self.generator is None:
            yield (
                "training.keep: best_generator needs validations that decode, and this training "
                "does not decode: write last or best_ranker"
            )
        if not self.documents:
            yield (
                "each document has fewer than two distinct candidates that can be elected, so "
                "there is nothing to rank"
            )
        if self.validation is not None and not self.validation:
            yield (
                "each validation document has fewer than two distinct candidates that can be "
                "elected"
            )
        if self.settings.gold_weight and self.documents.unlabelled:
            yield (
                f"training.gold_weight: {self.documents.unlabelled:,} documents have no reference "
                "that could be preferred: set it to 0"
            )
