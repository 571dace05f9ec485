"""The training loop: updates, validations, checkpoints, when to stop; and one update."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import torch
from accelerate.utils import send_to_device
from torch import nn
from torch.distributed.tensor import DTensor
from torch.optim import Optimizer

from brido.models.products import faster_training
from brido.training.batches import chunk_seed, share
from brido.training.checkpoints import Checkpoints
from brido.training.devices import checkpoint_layers, trackers
from brido.training.parallel import Parallel, make_parallel
from brido.training.state import TrainState, UpdateReport, write_history
from brido.training.task import Task, UpdateData
from brido.utils.errors import BridoError
from brido.utils.progress import Progress, say
from brido.utils.signals import stop, stop_request

Found = TypeVar("Found")


def train(task: Task) -> TrainState:
    """Train `task.model`; return the state at the end of the run.

    The model then holds the weights of `task.keep` (with `runtime.fsdp` in the first process
    alone, to be saved and not to be run). A killed run goes on from its last checkpoint and ends in
    the same weights. SIGTERM and Ctrl-C write a checkpoint and end the process. `task.folder` keeps
    it until the caller has saved the model and removes it (`brido.work.folder.leave`).

    Raises:
        BridoError: settings that make no sense, another process that works for the stage, a loss
            that diverges, too little memory, or a damaged checkpoint.
    """
    if problems := list(task.problems()):
        raise BridoError.from_problems("training cannot start:", problems)
    parallel, model = make_parallel(task.runtime), task.model
    checkpoints = Checkpoints(task.folder, parallel)
    if task.runtime.gradient_checkpointing:
        checkpoint_layers(model)
    model.train()
    # With FSDP a layer's weights are here only while it runs, behind a class of torch's own.
    products = nullcontext() if task.runtime.fsdp else faster_training(model)
    with products:
        loss, optimizer = parallel.prepare(task.loss(), task.optimizer)
        state = checkpoints.load(model, optimizer)
        # An earlier process may have been short of memory.
        fewer = state.micro_batch or task.runtime.candidate_micro_batch
        state.micro_batch = fewer if parallel.splits_candidates else None
        parallel.check_same_start(state.update)
        if parallel.is_main and not state.update:
            _announce(task, parallel)
        with trackers(task, parallel.accelerator, resumed=bool(state.update)):
            Run(task, parallel, loss, optimizer, state, checkpoints).finish()
        # The last update's loss says nothing about what that update made of the weights.
        if not parallel.all_finite(model.parameters()):
            raise task.diverged("after the last update some weights are NaN or infinite")
    if task.keep != "last":
        checkpoints.load_best(state, model, f"{task.key}.keep", task.keep)
    # The others may still be reading what the caller removes.
    parallel.accelerator.wait_for_everyone()
    parallel.collect(model)
    return state


def _announce(task: Task, parallel: Parallel) -> None:
    """Say how long the run is and what may be wrong with it, before it costs anything."""
    for warning in (*parallel.warnings(), *task.warnings()):
        say(f"{task.name}: warning: {warning}")
    where = f"{f' on {parallel.count} processes' if parallel.count > 1 else ''}{parallel.note}"
    reached = max(task.rate(update) for update in range(1, task.updates + 1))
    say(f"{task.name}: {task.updates:,} updates{where}, learning rate at most {reached:.2g}")


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
                    self.checkpoints.save(state, task.model, self.optimizer)
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
        return self.state.summary(report)

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
