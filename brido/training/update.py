"""One update of the weights, on one process or many, in as much memory as there is."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from accelerate import Accelerator
from torch.optim import Optimizer

from brido.training.batches import chunk_seed, share
from brido.training.sharding import is_sharded, whole
from brido.training.task import Descent, Task, Work
from brido.utils.errors import BridoError


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
    """Turns the examples of an update into a step of the optimizer.

    step: the task's, wrapped by accelerate or sharded. micro_batch: candidates of a document that
    run together, None for all; halved when memory runs out.
    """

    task: Task
    descent: Descent
    step: torch.nn.Module
    optimizer: Optimizer
    accelerator: Accelerator
    micro_batch: int | None

    def run(self, update: int) -> UpdateReport:
        """Do update `update` (1 to task.updates).

        Raises:
            DivergedError: the loss or its gradient is no finite number; the weights are as before.
            BridoError: the device's memory is too small even for one candidate at a time.
        """
        rate = self.descent.rate(update)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        sums = self._gradients(update)
        self._check_finite("loss", sums[0], update)
        norm = math.nan
        if self.descent.max_gradient_norm is not None:
            parameters = self.step.parameters()
            largest = self.descent.max_gradient_norm
            norm = float(whole(self.accelerator.clip_grad_norm_(parameters, largest)))
            self._check_finite("gradient", norm, update)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return UpdateReport(sums[0], sums[1], sums[2], rate, norm, sums[3])

    def _check_finite(self, what: str, value: float, update: int) -> None:
        if not math.isfinite(value):
            self.optimizer.zero_grad(set_to_none=True)
            raise DivergedError(f"the {what} of update {update} is {value}")

    def _gradients(self, update: int) -> list[float]:
        """Accumulate the gradients; losses and tokens, summed over all processes."""
        work = self.task.work(update)
        while True:
            try:
                sums = self._accumulate(update, work)
                break
            except torch.OutOfMemoryError as error:
                self._take_less_memory(error)
        return self.accelerator.reduce(sums, reduction="sum").tolist()

    def _accumulate(self, update: int, work: Work) -> torch.Tensor:
        accelerator = self.accelerator
        mine = share(len(work.chunks), accelerator.process_index, accelerator.num_processes)
        sums = torch.zeros(4, dtype=torch.float64, device=accelerator.device)
        for turn, chunk in enumerate(mine):
            last = turn == len(mine) - 1
            batch = self.task.batch(work.chunks[chunk or 0])
            # Dropout depends on the seed, the update and the chunk, not on who computes it.
            torch.manual_seed(chunk_seed(self.task.seed, update, chunk or 0))
            meeting: Any = contextlib.nullcontext() if last else accelerator.no_sync(self.step)
            with meeting:
                # accelerate brings the number type to steps that it wraps: not to a sharded one.
                with accelerator.autocast():
                    parts = self.step(batch.to(accelerator.device), *work.whole, self.micro_batch)
                # DistributedDataParallel and FSDP average over processes; a process without a chunk
                # of its own runs one for nothing: the others wait for it in their backward pass.
                weight = accelerator.num_processes if chunk is not None else 0
                accelerator.backward(parts.loss * weight)
            if chunk is not None:
                sums[:3] += torch.stack([part.detach().double() for part in parts])
                sums[3] += batch.tokens
        return sums

    def _take_less_memory(self, error: torch.OutOfMemoryError) -> None:
        """Halve the candidates that run together; the gradient stays the same."""
        sequences = self.micro_batch or self.task.sequences
        if self.accelerator.num_processes > 1 or sequences == 1:
            fewer = f"runtime.candidate_micro_batch (now {self.micro_batch}) or "
            if is_sharded(self.step):  # which takes all candidates of a document at once
                fewer = ""
            raise BridoError(
                f"the device's memory is too small ({error}): set {fewer}"
                "runtime.gradient_checkpointing, or lower runtime.batch_tokens or "
                "max_source_tokens of reading"
            ) from None
        self.optimizer.zero_grad(set_to_none=True)
        self.micro_batch = -(-sequences // 2)
        if self.accelerator.device.type == "cuda":
            torch.cuda.empty_cache()
