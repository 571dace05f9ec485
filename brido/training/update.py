"""One update of the weights, on one process or many, in as much memory as there is."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from accelerate import Accelerator
from torch.optim import Optimizer

from brido.errors import BridoError
from brido.settings import TrainingSettings
from brido.training.batches import Batches, Plan, chunk_seed, share
from brido.training.documents import RankedDocument, RankedDocuments
from brido.training.schedule import learning_rate


class UpdateReport(NamedTuple):
    """What an update did: losses per Eq. 3, learning rate, gradient norm before clipping, tokens.

    gradient_norm is nan where nothing is clipped; tokens counts sources, references and candidates
    of all processes.
    """

    loss: float
    cross_entropy: float
    contrastive: float
    learning_rate: float
    gradient_norm: float
    tokens: float


class DivergedError(BridoError):
    """Training does not converge; the message says how that was noticed."""


@dataclass
class Updater:
    """Turns the documents of an update into a step of the optimizer.

    step: the (wrapped) ContrastiveStep. chunk: documents that run together. micro_batch: candidates
    of a document that run together, None for all; halved when memory runs out.
    """

    step: torch.nn.Module
    optimizer: Optimizer
    batches: Batches
    documents: RankedDocuments
    plan: Plan
    settings: TrainingSettings
    accelerator: Accelerator
    chunk: int
    micro_batch: int | None

    def run(self, update: int) -> UpdateReport:
        """Do update `update` (1 to plan.updates).

        Raises:
            DivergedError: the loss is no finite number; the weights are as before.
            BridoError: the device's memory is too small even for one candidate at a time.
        """
        settings = self.settings
        rate = learning_rate(
            update, self.plan.updates, settings.learning_rate, settings.warmup_steps,
            settings.schedule,
        )  # fmt: skip
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        sums = self._gradients(update)
        if not math.isfinite(sums[0]):
            self.optimizer.zero_grad(set_to_none=True)
            raise DivergedError(f"the loss of update {update} is {sums[0]}")
        norm = math.nan
        if settings.max_gradient_norm is not None:
            parameters = self.step.parameters()
            norm = float(self.accelerator.clip_grad_norm_(parameters, settings.max_gradient_norm))
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return UpdateReport(sums[0], sums[1], sums[2], rate, norm, sums[3])

    def _gradients(self, update: int) -> list[float]:
        """Accumulate the gradients; losses and tokens, summed over all processes."""
        documents = [self.documents[index] for index in self.plan.indices(update)]
        tokens = self.batches.target_tokens(documents)
        chunks = [documents[i : i + self.chunk] for i in range(0, len(documents), self.chunk)]
        while True:
            try:
                sums = self._accumulate(update, chunks, tokens, len(documents))
                break
            except torch.OutOfMemoryError as error:
                self._take_less_memory(error)
        return self.accelerator.reduce(sums, reduction="sum").tolist()

    def _accumulate(
        self, update: int, chunks: list[list[RankedDocument]], tokens: int, documents: int
    ) -> torch.Tensor:
        accelerator = self.accelerator
        mine = share(len(chunks), accelerator.process_index, accelerator.num_processes)
        sums = torch.zeros(4, dtype=torch.float64, device=accelerator.device)
        for turn, chunk in enumerate(mine):
            last = turn == len(mine) - 1
            batch = self.batches.batch(chunks[chunk or 0], candidates=self.settings.gamma > 0)
            # Dropout depends on the seed, the update and the chunk, not on who computes it.
            torch.manual_seed(chunk_seed(self.settings.seed, update, chunk or 0))
            meeting: Any = contextlib.nullcontext() if last else accelerator.no_sync(self.step)
            with meeting:
                parts = self.step(batch.to(accelerator.device), tokens, documents, self.micro_batch)
                # DistributedDataParallel averages over processes; a process without a chunk of its
                # own runs one for nothing, because the others wait for it in their backward pass.
                weight = accelerator.num_processes if chunk is not None else 0
                accelerator.backward(parts.loss * weight)
            if chunk is not None:
                sums[:3] += torch.stack([part.detach().double() for part in parts])
                sums[3] += batch.tokens
        return sums

    def _take_less_memory(self, error: torch.OutOfMemoryError) -> None:
        """Halve the candidates that run together; the gradient stays the same."""
        if self.accelerator.num_processes > 1 or self.micro_batch == 1:
            raise BridoError(
                f"the device's memory is too small ({error}): set runtime.candidate_micro_batch "
                f"(now {self.micro_batch}) or runtime.gradient_checkpointing, or lower "
                "runtime.batch_tokens or max_source_tokens of reading"
            ) from None
        self.optimizer.zero_grad(set_to_none=True)
        sequences = self.documents.num_candidates + 1
        self.micro_batch = -(-(self.micro_batch or sequences) // 2)
        if self.accelerator.device.type == "cuda":
            torch.cuda.empty_cache()
