"""A run of the loop: its state, one update, validations, and when to stop."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

import torch
from accelerate.utils import send_to_device
from torch import nn
from torch.distributed.tensor import DTensor
from torch.optim import Optimizer

from brido.training.batches import chunk_seed, share
from brido.training.checkpoints import SUMMED, Checkpoints, write_history
from brido.training.parallel import Parallel
from brido.training.task import Task, UpdateData
from brido.utils.errors import BridoError
from brido.utils.progress import Progress
from brido.utils.signals import stop, stop_request

Found = TypeVar("Found")
# The last losses of a run are those of this share of its updates.
LAST_SHARE = 0.1


class UpdateReport(NamedTuple):
    """What an update did: losses as in Eq. 3, learning rate, gradient norm before clipping.

    gradient_norm is NaN if gradients are not clipped.
    """

    loss: float
    cross_entropy: float
    contrastive: float
    learning_rate: float
    gradient_norm: float


@dataclass
class TrainState:
    """Everything of a run but its tensors.

    update: updates done. It is the sampler's position and the random state too, because both are
    functions of seed and update. history: a row a validation. interval: sums since its last row.
    best: value and update of the best validation. micro_batch: candidates at once, if memory forced
    fewer than the settings say. last_losses: the losses of the last tenth of the updates.
    """

    update: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    interval: dict[str, float] = field(default_factory=dict)
    best: tuple[float, int] | None = None
    micro_batch: int | None = None
    last_losses: list[float] = field(default_factory=list)

    def row_due(self, every: int, updates: int) -> bool:
        """Whether a row is due: before the first of `updates`, after `every`, and at the end."""
        if self.history and self.history[-1]["update"] == self.update:
            return False
        return self.update % every == 0 or self.update == updates

    def finished(self, every: int, updates: int) -> bool:
        """Whether all updates are done, and their last row is written."""
        return self.update >= updates and not self.row_due(every, updates)

    def count(self, report: UpdateReport, updates: int) -> None:
        """Count one of `updates` as done."""
        self.update += 1
        for name in SUMMED:
            self.interval[name] = self.interval.get(name, 0.0) + getattr(report, name)
        self.interval["updates"] = self.interval.get("updates", 0) + 1
        self.interval["learning_rate"] = report.learning_rate
        if self.update > updates - max(1, int(updates * LAST_SHARE)):
            self.last_losses.append(report.loss)
        if self.update == 1:
            # The losses of the first update were measured before it: they are the base model's.
            row = self.history[0]
            row.update({name: getattr(report, name) for name in (*SUMMED, "learning_rate")})

    def add_row(self, measures: dict[str, float], updates_per_epoch: int, decisive: str) -> bool:
        """Add a row of the interval's means and these measures to the history.

        Returns whether these weights are the best so far by the measure `decisive`.
        """
        count = self.interval.get("updates", 0)
        row: dict[str, Any] = {
            "update": self.update,
            "epoch": self.update / updates_per_epoch,
            "learning_rate": self.interval.get("learning_rate", math.nan),
        }
        for name in SUMMED:
            row[name] = self.interval[name] / count if count else math.nan
        row |= measures
        self.history.append(row)
        self.interval = {}
        value = row.get(decisive, math.nan)
        better = value > (self.best[0] if self.best else -math.inf)  # NaN is not
        if better:
            self.best = (value, self.update)
        return better


@dataclass
class Run:
    """A run of a task, from its state to the end.

    loss: the task's, as `parallel` prepared it. state.micro_batch: candidates of a document that
    run together, None for all; halved when memory runs out. tell: is called with how far an update
    is.
    """

    task: Task
    parallel: Parallel
    loss: nn.Module
    optimizer: Optimizer
    state: TrainState
    checkpoints: Checkpoints
    tell: Callable[[str], None] = lambda _: None

    def finish(self) -> None:
        """All updates, and a validation before the first, after every `task.every`, at the end."""
        task, parallel, state = self.task, self.parallel, self.state
        seconds = task.runtime.log_seconds
        shown = Progress(task.name, task.updates, "updates", seconds, shown=parallel.is_main)
        with stop_request() as received, shown as progress:
            self.tell = lambda note: progress.advance(0, note=note)
            progress.skip(state.update)
            if state.history:
                self._write_history()
            # A run is finished when its last validation is done too.
            while not state.finished(task.every, task.updates):
                if state.row_due(task.every, task.updates):
                    self.validate()
                else:
                    progress.advance(note=self.update())
                # Each process has its own clock and signals, but all must save and stop alike.
                signal = received[-1] if received else 0
                number, due = parallel.agree(signal, self.checkpoints.due)
                finished = state.finished(task.every, task.updates)
                if number or finished or due:
                    self.checkpoints.save(asdict(state), task.model, self.optimizer)
                if number or finished:
                    # A process that ends too early makes the launcher end the one that is writing.
                    parallel.accelerator.wait_for_everyone()
                if number and not finished:
                    stop(number, f"the state of update {state.update} is kept, run again to go on")

    def update(self) -> str:
        """Do the next update; return a line of progress.

        Raises:
            BridoError: the loss or its gradient is NaN or infinite (no weight has changed), or the
                device's memory is too small even for one candidate at a time.
        """
        task, accelerator, number = self.task, self.parallel.accelerator, self.state.update + 1
        rate = task.rate(number)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        sums = self.fit(partial(self.gradients, number, task.examples(number)))
        loss, cross_entropy, contrastive = accelerator.reduce(sums, reduction="sum").tolist()
        checked = {"loss": loss}
        if task.max_gradient_norm is not None:
            norm = accelerator.clip_grad_norm_(self.loss.parameters(), task.max_gradient_norm)
            # With FSDP it is in parts.
            checked["gradient"] = float(norm.full_tensor() if isinstance(norm, DTensor) else norm)
        for what, value in checked.items():
            if not math.isfinite(value):
                self.optimizer.zero_grad(set_to_none=True)
                raise task.diverged(f"the {what} of update {number} is {value}")
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        report = UpdateReport(
            loss, cross_entropy, contrastive, rate, checked.get("gradient", math.nan)
        )
        self.state.count(report, task.updates)
        self._log("update", report._asdict())
        if number == 1:
            # Its losses, measured before it changed a weight, are base's: they fill the first row.
            self._write_history()
        tau = self.state.history[-1].get("tau")
        ranked = "" if tau is None else (
            f" (cross-entropy {cross_entropy:.4g}, contrastive {contrastive:.4g}), tau {tau:.3f}"
        )  # fmt: skip
        return f"loss {loss:.4g}{ranked}, rate {rate:.2g}"

    def gradients(self, update: int, data: UpdateData) -> torch.Tensor:
        """Add up this process's part of the update's gradients; return the sums of its losses."""
        parallel, accelerator = self.parallel, self.parallel.accelerator
        mine = share(len(data.chunks), parallel.index, parallel.count)
        sums = torch.zeros(3, dtype=torch.float64, device=parallel.device)
        for turn, chunk in enumerate(mine):
            last = turn == len(mine) - 1
            batch = self.task.batch(data.chunks[chunk or 0])
            batch = send_to_device(batch, parallel.device)
            # Dropout depends on the seed, the update and the chunk, not on who computes it.
            torch.manual_seed(chunk_seed(self.task.seed, update, chunk or 0))
            # Only in the last pass gradients are exchanged.
            with nullcontext() if last else accelerator.no_sync(self.loss):
                # accelerate autocasts the losses that it wraps, but not a sharded one.
                with accelerator.autocast():
                    parts = self.loss(batch, *data.totals, self.state.micro_batch)
                # Gradients are averaged over processes. A process without a chunk of its own runs
                # one with weight 0, because the others wait for it in their backward pass.
                weight = parallel.count if chunk is not None else 0
                accelerator.backward(parts.loss * weight)
            if chunk is not None:
                sums += torch.stack([part.detach().double() for part in parts])
            if not last:
                self.tell(f"update {update}: {turn + 1} of {len(mine)} batches")
        return sums

    def fit(self, compute: Callable[[], Found]) -> Found:
        """Call `compute` until it fits into memory: each time half as many candidates run together.

        The gradient stays the same. Raises BridoError if there is nothing left to halve.
        """
        while True:
            try:
                return compute()
            except torch.OutOfMemoryError as error:
                sequences = self.state.micro_batch or self.task.sequences
                if self.parallel.count > 1 or sequences == 1:
                    raise self._too_large(error) from None
                self.optimizer.zero_grad(set_to_none=True)
                self.state.micro_batch = -(-sequences // 2)
                if self.parallel.device.type == "cuda":
                    torch.cuda.empty_cache()

    def _too_large(self, error: torch.OutOfMemoryError) -> BridoError:
        fewer = f"runtime.candidate_micro_batch (now {self.state.micro_batch}) or "
        return BridoError(
            f"the device's memory is too small ({error}): set "
            f"{fewer if self.parallel.splits_candidates else ''}"
            "runtime.gradient_checkpointing, or lower runtime.batch_tokens or "
            "max_source_tokens of reading"
        )

    def validate(self) -> None:
        """Measure the model, write a row of the history, and keep the best weights."""
        task, state, parallel = self.task, self.state, self.parallel

        def measures() -> dict[str, float]:
            with torch.no_grad(), parallel.accelerator.autocast():
                return task.measures(state.micro_batch)

        task.model.eval()
        found = self.fit(lambda: parallel.measure(self.loss, measures))
        task.model.train()
        decisive = "rouge" if task.keep == "best_generator" else "tau"
        better = state.add_row(found, task.updates_per_epoch, decisive)
        if better and task.keep != "last":
            self.checkpoints.save_best(state.update, task.model)
        self._log("validation", state.history[-1])
        self._write_history()

    def _log(self, kind: str, values: dict[str, float]) -> None:
        """Tell the trackers what is finite of these values, under the names KIND/NAME."""
        known = {f"{kind}/{name}": value for name, value in values.items() if math.isfinite(value)}
        self.parallel.accelerator.log(known, step=self.state.update)

    def _write_history(self) -> None:
        if self.parallel.is_main and self.task.history_file is not None:
            write_history(self.task.history_file, self.state.history)
