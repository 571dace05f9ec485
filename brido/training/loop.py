"""The training loop: updates, validations, checkpoints, and when to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from brido.training.checkpoints import Checkpoints, SaveTimer
from brido.training.devices import checkpoint_layers
from brido.training.parallel import Parallel, make_parallel
from brido.training.state import DivergedError, TrainState, write_history
from brido.training.task import OptimizerConfig, Task
from brido.training.update import Updater
from brido.utils.errors import BridoError
from brido.utils.progress import Progress, say
from brido.work.folder import take


def train(task: Task) -> TrainState:
    """Train `task.model`; return the state at the end of the run.

    The model then holds the weights of `task.keep` (with `runtime.fsdp` in the first process
    alone, to be saved and not to be run). A run that was killed goes on from its last checkpoint
    and ends in the same weights. `task.folder` keeps the state until the caller, who has saved the
    model, removes it (`brido.work.folder.leave`). SIGTERM and Ctrl-C write a checkpoint and end the
    process (exit status 143; KeyboardInterrupt).

    Raises:
        BridoError: settings that make no sense, another process that works for the stage, a loss
            that diverges, too little memory, or a damaged checkpoint.
    """
    problems = list(task.problems())
    if problems:
        raise BridoError.from_problems("training cannot start:", problems)
    parallel, model = make_parallel(task.runtime), task.model
    if parallel.is_main:
        take(task.folder)
    checkpoints = Checkpoints(task.folder, parallel)
    if parallel.runtime.gradient_checkpointing:
        checkpoint_layers(model)
    model.train()
    with task.context():
        config = task.optimizer()
        step, optimizer = parallel.prepare(task.step(), partial(_optimizer, config))
        parallel.call(step, partial(task.prepare, parallel))
        state = checkpoints.load(model, optimizer)
        micro_batch = parallel.sequences_at_once(state.micro_batch)
        updater = Updater(task, config, step, optimizer, parallel, micro_batch)
        parallel.check_same_start(state.update)
        if parallel.is_main and not state.update:
            _announce(task, parallel)
        try:
            _run(updater, state, checkpoints)
            if not parallel.all_finite(model.parameters()):
                # The last update's loss says nothing about what that update made of the weights.
                raise DivergedError("after the last update some weights are NaN or infinite")
        except DivergedError as error:
            raise BridoError(f"training diverged: {error}. {task.remedy}") from None
    if task.keep != "last":
        if state.best is None:
            raise BridoError(
                f"{task.key}.keep: no validation gave a value for {task.keep}: write last"
            )
        checkpoints.load_best(state.best[1], model)
    # The others may still be reading what the caller removes.
    parallel.accelerator.wait_for_everyone()
    parallel.collect(model)
    return state


def _optimizer(config: OptimizerConfig, weights: list[nn.Parameter]) -> Optimizer:
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[config.name]
    return kind(weights, lr=config.rate(1), weight_decay=config.weight_decay)


def _announce(task: Task, parallel: Parallel) -> None:
    """Say how long the run is and what may be wrong with it, before it costs anything."""
    for warning in (*parallel.warnings(), *task.warnings()):
        say(f"{task.name}: warning: {warning}")
    where = f"{f' on {parallel.count} processes' if parallel.count > 1 else ''}{parallel.note}"
    rate = task.optimizer().rate
    reached = max(rate(update) for update in range(1, task.updates + 1))
    say(f"{task.name}: {task.updates:,} updates{where}, learning rate at most {reached:.2g}")


def _run(updater: Updater, state: TrainState, checkpoints: Checkpoints) -> None:
    task, parallel = updater.task, updater.parallel
    save = partial(checkpoints.save, state, task.model, updater.optimizer)
    timer = SaveTimer(parallel.runtime.checkpoint_minutes * 60)
    seconds = parallel.runtime.log_seconds
    shown = Progress(task.name, task.updates, "updates", seconds, shown=parallel.is_main)
    with _stop_request() as received, shown as progress:
        progress.skip(state.update)
        if state.history:
            _write_history(updater, state)
        finished = state.finished(task.every, task.updates)
        while not finished:
            if state.row_due(task.every, task.updates):
                _validate(updater, state, checkpoints)
            else:
                report = updater.run(state.update + 1)
                state.micro_batch = updater.micro_batch
                state.count(report, task.updates)
                if task.trackers is not None:
                    task.trackers.update(state.update, report)
                if state.update == 1:
                    _write_history(updater, state)
                progress.advance(note=state.summary(report))
            # All processes stop, and save, at the same update.
            number, due = parallel.agree(received[-1] if received else 0, timer.due)
            finished = state.finished(task.every, task.updates)
            if number or finished or due:
                timer.save(save)
            if number or finished:
                # A process that ends too early makes the launcher end the one that is writing.
                parallel.accelerator.wait_for_everyone()
            if number and not finished:
                _stop(number, state)


def _validate(updater: Updater, state: TrainState, checkpoints: Checkpoints) -> None:
    task, parallel = updater.task, updater.parallel
    measure = partial(task.measures, parallel.accelerator.autocast)
    measures = parallel.measure(updater.step, measure)
    decisive = "rouge" if task.keep == "best_generator" else "tau"
    better = state.add_row(measures, task.updates_per_epoch, decisive)
    if better and task.keep != "last":
        checkpoints.save_best(state.update, task.model)
    if task.trackers is not None:
        task.trackers.validation(state.history[-1], parallel.accelerator.autocast)
    _write_history(updater, state)


def _write_history(updater: Updater, state: TrainState) -> None:
    if updater.parallel.is_main and updater.task.history_file is not None:
        write_history(updater.task.history_file, state.history)


def _stop(number: int, state: TrainState) -> None:
    kept = f"the state of update {state.update} is kept, run again to go on from there"
    if number == signal.SIGINT:
        raise KeyboardInterrupt(kept)
    say(f"stopped; {kept}")
    raise SystemExit(128 + number)


@contextmanager
def _stop_request() -> Iterator[list[int]]:
    """Note the first SIGTERM or SIGINT in the list that this gives, instead of obeying it.

    A second one is obeyed at once. Outside the main thread signals cannot be caught.
    """
    received: list[int] = []
    former: dict[int, Any] = {}

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)
        signal.signal(number, former[number])

    try:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                former[number] = signal.signal(number, note)
        yield received
    finally:
        for caught, handler in former.items():
            signal.signal(caught, handler)
