"""One update of the weights, on one process or many, in as much memory as there is."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from accelerate.utils import send_to_device
from torch import nn
from torch.optim import Optimizer

from brido.training.batches import chunk_seed, share
from brido.training.parallel import Parallel
from brido.training.state import UpdateReport
from brido.training.task import OptimizerConfig, Task, UpdateData
from brido.utils.errors import BridoError


@dataclass
class Updater:
    """Turns the examples of an update into a step of the optimizer.

    step: the task's, as `parallel` prepared it. micro_batch: candidates of a document that run
    together, None for all; halved when memory runs out. tell: is called with how far an update is.
    """

    task: Task
    config: OptimizerConfig
    step: nn.Module
    optimizer: Optimizer
    parallel: Parallel
    micro_batch: int | None = None
    tell: Callable[[str], None] = lambda _: None

    def run(self, update: int) -> UpdateReport:
        """Do update `update` (1 to task.updates).

        Raises:
            BridoError: the loss or its gradient is NaN or infinite (no weight has changed), or the
                device's memory is too small even for one candidate at a time.
        """
        rate = self.config.rate(update)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss, cross_entropy, contrastive = self._gradients(update)
        self._check_finite("loss", loss, update)
        norm = math.nan
        if self.config.max_gradient_norm is not None:
            norm = self.parallel.clip(self.step, self.config.max_gradient_norm)
            self._check_finite("gradient", norm, update)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return UpdateReport(loss, cross_entropy, contrastive, rate, norm)

    def _check_finite(self, what: str, value: float, update: int) -> None:
        if not math.isfinite(value):
            self.optimizer.zero_grad(set_to_none=True)
            raise self.task.diverged(f"the {what} of update {update} is {value}")

    def _gradients(self, update: int) -> list[float]:
        data = self.task.data(update)
        while True:
            try:
                sums = self._accumulate(update, data)
                break
            except torch.OutOfMemoryError as error:
                self._take_less_memory(error)
        return self.parallel.accelerator.reduce(sums, reduction="sum").tolist()

    def _accumulate(self, update: int, data: UpdateData) -> torch.Tensor:
        parallel, accelerator = self.parallel, self.parallel.accelerator
        mine = share(len(data.chunks), parallel.index, parallel.count)
        sums = torch.zeros(3, dtype=torch.float64, device=parallel.device)
        for turn, chunk in enumerate(mine):
            batch = send_to_device(self.task.batch(data.chunks[chunk or 0]), parallel.device)
            # Dropout depends on the seed, the update and the chunk, not on who computes it.
            torch.manual_seed(chunk_seed(self.task.seed, update, chunk or 0))
            with parallel.accumulate(self.step, last=turn == len(mine) - 1):
                # accelerate autocasts the steps that it wraps, but not a sharded one.
                with accelerator.autocast():
                    parts = self.step(batch, *data.totals, self.micro_batch)
                # Gradients are averaged over processes. A process without a chunk of its own runs
                # one with weight 0, because the others wait for it in their backward pass.
                weight = parallel.count if chunk is not None else 0
                accelerator.backward(parts.loss * weight)
            if chunk is not None:
                sums += torch.stack([part.detach().double() for part in parts])
            if turn < len(mine) - 1:
                self.tell(f"update {update}: {turn + 1} of {len(mine)} batches")
        return sums

    def _take_less_memory(self, error: torch.OutOfMemoryError) -> None:
        """Halve the candidates that run together; the gradient stays the same."""
        sequences = self.micro_batch or self.task.sequences
        if self.parallel.count > 1 or sequences == 1:
            fewer = f"runtime.candidate_micro_batch (now {self.micro_batch}) or "
            raise BridoError(
                f"the device's memory is too small ({error}): set "
                f"{fewer if self.parallel.splits_candidates else ''}"
                "runtime.gradient_checkpointing, or lower runtime.batch_tokens or "
                "max_source_tokens of reading"
            ) from None
        self.optimizer.zero_grad(set_to_none=True)
        self.micro_batch = -(-sequences // 2)
        if self.parallel.device.type == "cuda":
            torch.cuda.empty_cache()
