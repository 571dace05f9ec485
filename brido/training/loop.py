"""The training loop: updates, validations, checkpoints, and when to stop."""

from __future__ import annotations

import contextlib
import signal
import time
from functools import partial

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from transformers import PreTrainedModel

from brido.training.checkpointing import Checkpoints, RunState
from brido.training.devices import checkpoint_layers, make_accelerator
from brido.training.history import write_history
from brido.training.kept import make_room
from brido.training.monitor import Monitor
from brido.training.pauses import pause
from brido.training.sharding import (
    all_finite,
    check_shardable,
    inside,
    is_sharded,
    put_together,
    shard,
)
from brido.training.signals import StopRequest
from brido.training.task import Task
from brido.training.update import DivergedError, Updater
from brido.utils.errors import BridoError
from brido.utils.progress import Progress, say
from brido.work.folder import hold, release

# How fast a disk writes a state, as long as nobody has measured it.
BYTES_A_SECOND = 200e6


def train(task: Task) -> RunState:
    """The state at the end of a run; `task.model` then holds the weights of `task.keep` (with
    `runtime.fsdp` in the first process alone, to be saved and not to be run).

    A run that was killed goes on from its last checkpoint and ends in the same weights; one that
    was finished before, by this code, is loaded. SIGTERM and Ctrl-C write a checkpoint and end the
    process (exit status 143; KeyboardInterrupt).

    Raises:
        BridoError: settings that make no sense, another process that works for the stage, a loss
            that diverges (the best weights so far stay in `task.folder`), too little memory, or a
            checkpoint of another model.
    """
    problems = list(task.problems())
    if problems:
        raise BridoError.from_problems("training cannot start:", problems)
    accelerator = make_accelerator(task.runtime)
    if not accelerator.is_main_process:
        return _finish(task, accelerator)
    hold(task.folder)
    try:
        make_room(task.folder)
        return _finish(task, accelerator)
    finally:
        release(task.folder)


def _finish(task: Task, accelerator: Accelerator) -> RunState:
    """The state at the end of a run: of an earlier one, or of what is left to do."""
    checkpoints = Checkpoints(task.folder, accelerator.is_main_process)
    state = checkpoints.load_finished(task.model)
    if state is None:
        state = _train(task, accelerator, checkpoints)
    elif accelerator.is_main_process:
        if task.history_file is not None:
            write_history(task.history_file, state.history)
        say(f"{task.name}: this run was finished before ({task.folder}; remove it to train anew)")
    return state


def _train(task: Task, accelerator: Accelerator, checkpoints: Checkpoints) -> RunState:
    if task.runtime.gradient_checkpointing:
        checkpoint_layers(task.model)
    task.model.train()
    with task.around():
        updater = _updater(task, accelerator)
        inside(updater.step, partial(task.prepare, accelerator))
        state = checkpoints.load(task.model, updater.optimizer) or RunState()
        if not is_sharded(updater.step):
            updater.micro_batch = state.micro_batch or task.runtime.candidate_micro_batch
        _check_same_start(state, accelerator)
        if accelerator.is_main_process and not state.update:
            _announce(updater)
        try:
            _run(updater, Monitor(task, checkpoints, accelerator, state, updater.step))
            if not all_finite(task.model.parameters(), accelerator):
                # The last update's loss says nothing about what that update made of the weights.
                raise DivergedError("the last update made weights that are no numbers")
        except DivergedError as error:
            raise BridoError(_divergence(error, task, state)) from None
    if task.keep != "last":
        if task.keep not in state.best:
            raise BridoError(
                f"{task.key}.keep: no validation gave a value for {task.keep}; use last"
            )
        checkpoints.load_best(task.keep, state.best[task.keep][1], task.model)
    # Nobody may still be reading what is now removed.
    accelerator.wait_for_everyone()
    if is_sharded(updater.step):
        put_together(task.model, accelerator.is_main_process)
    if accelerator.is_main_process:
        checkpoints.finish(state, task.model)
    return state


def _announce(updater: Updater) -> None:
    """Say how far the run goes, before it costs anything."""
    task, descent = updater.task, updater.descent
    if task.runtime.fsdp and not is_sharded(updater.step):
        say(f"{task.name}: one process holds the whole model; for runtime.fsdp set BRIDO_LAUNCH")
    reached = max(descent.rate(update) for update in range(1, task.updates + 1))
    where = f" on {count} processes" if (count := updater.accelerator.num_processes) > 1 else ""
    parts = ", a part of the model in each" if is_sharded(updater.step) else ""
    say(f"{task.name}: {task.updates:,} updates{where}{parts}, learning rate at most {reached:.2g}")
    if reached < descent.meant / 10:
        say(
            f"warning: that is less than a tenth of the {descent.meant:.2g} meant: the warm-up of "
            f"{descent.warmup:,} updates is longer than the run. Lower {task.key}.warmup_steps, or "
            "train on more documents or epochs"
        )


def _run(updater: Updater, monitor: Monitor) -> None:
    """Do what is left: updates, and validations between them; write states when they are due."""
    state, task, accelerator = monitor.state, updater.task, updater.accelerator
    longest = task.runtime.checkpoint_minutes * 60
    saved, wait = time.monotonic(), pause(_state_bytes(task.model) / BYTES_A_SECOND, longest)
    with StopRequest(accelerator) as stop, contextlib.ExitStack() as stack:
        progress = None
        if accelerator.is_main_process:
            shown = Progress(task.name, task.updates, "updates", task.runtime.log_seconds)
            progress = stack.enter_context(shown)
            progress.skip(state.update)
        if state.history:
            monitor.write_history()
        while not state.finished:
            if monitor.due:
                monitor.validate()
            else:
                report = updater.run(state.update + 1)
                state.update += 1
                state.micro_batch = updater.micro_batch
                monitor.note(report)
                if progress is not None:
                    progress.advance(note=monitor.summary(report))
            number, due = stop.agreed(time.monotonic() - saved >= wait)
            if number or state.finished or due:
                began = time.monotonic()
                monitor.save(updater)
                saved = time.monotonic()
                wait = pause(saved - began, longest)
            if number or state.finished:
                # A process that ends too early makes the launcher end the one that is writing.
                accelerator.wait_for_everyone()
            if number and not state.finished:
                _stop(number, state)


def _state_bytes(model: PreTrainedModel) -> int:
    """The size of a state: what is trained, and the optimizer's two means of each weight."""
    trained = (weight for weight in model.parameters() if weight.requires_grad)
    return sum(3 * weight.numel() * weight.element_size() for weight in trained)


def _stop(number: int, state: RunState) -> None:
    kept = f"the state of update {state.update} is kept, run again to go on from there"
    if number == signal.SIGINT:
        raise KeyboardInterrupt(kept)
    say(f"stopped; {kept}")
    raise SystemExit(128 + number)


def _updater(task: Task, accelerator: Accelerator) -> Updater:
    descent, step = task.descent(), task.step()
    sharded = task.runtime.fsdp and accelerator.num_processes > 1
    if sharded:
        check_shardable(task.model, task.runtime)
        shard(step, task.model, accelerator)
    parameters = [weight for weight in task.model.parameters() if weight.requires_grad]
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[descent.optimizer]
    optimizer = kind(parameters, lr=descent.meant, weight_decay=descent.weight_decay)
    if not sharded:
        step, optimizer = accelerator.prepare(step, optimizer)
    return Updater(task, descent, step, optimizer, accelerator, micro_batch=None)


def _check_same_start(state: RunState, accelerator: Accelerator) -> None:
    """BridoError where processes on several machines do not see one work folder."""
    if accelerator.num_processes == 1:
        return
    start = broadcast_object_list([state.update])[0]
    agrees = torch.tensor([int(start == state.update)], device=accelerator.device)
    if not bool(accelerator.gather(agrees).all()):
        raise BridoError(
            f"a process starts at update {state.update}, the first one at {start}: all machines "
            "must see the same work folder (set BRIDO_WORK to a shared one)"
        )


def _divergence(error: DivergedError, task: Task, state: RunState) -> str:
    best = state.best.get("best_ranker")
    kept = "nothing was validated before" if best is None else (
        f"the best weights, of update {best[1]} (tau {best[0]:.3f}), are kept in {task.folder}"
    )  # fmt: skip
    return f"training diverged: {error}; {kept}. {task.remedy}"
