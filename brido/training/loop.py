"""The training loop: updates, validations, checkpoints, and when to stop."""

from contextlib import nullcontext
from functools import partial

from brido.models.products import faster_training
from brido.training.checkpoints import Checkpoints
from brido.training.devices import checkpoint_layers
from brido.training.parallel import make_parallel
from brido.training.state import TrainState, write_history
from brido.training.task import Task
from brido.training.update import Updater
from brido.utils.errors import BridoError
from brido.utils.progress import Progress
from brido.utils.signals import stop, stop_request


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
    with task.context(), products:
        config = task.optimizer()
        step, optimizer = parallel.prepare(task.step(), config.make)
        # What needs the model as it is before the run: base's likelihoods.
        parallel.call(step, partial(task.prepare, parallel))
        state = checkpoints.load(model, optimizer)
        at_once = parallel.sequences_at_once(state.micro_batch)
        updater = Updater(task, config, step, optimizer, parallel, at_once)
        parallel.check_same_start(state.update)
        if parallel.is_main and not state.update:
            task.announce(parallel)
        _run(updater, state, checkpoints)
        # The last update's loss says nothing about what that update made of the weights.
        if not parallel.all_finite(model.parameters()):
            raise task.diverged("after the last update some weights are NaN or infinite")
    if task.keep != "last":
        checkpoints.load_best(state, model, f"{task.key}.keep", task.keep)
    # The others may still be reading what the caller removes.
    parallel.accelerator.wait_for_everyone()
    parallel.collect(model)
    return state


def _run(updater: Updater, state: TrainState, checkpoints: Checkpoints) -> None:
    """All updates, and a validation before the first, after every `task.every`, and at the end."""
    task, parallel = updater.task, updater.parallel
    seconds = task.runtime.log_seconds
    shown = Progress(task.name, task.updates, "updates", seconds, shown=parallel.is_main)
    with stop_request() as received, shown as progress:
        updater.tell = lambda note: progress.advance(0, note=note)
        progress.skip(state.update)
        if state.history:
            _write_history(updater, state)
        # A run is finished when its last validation is done too.
        while not state.finished(task.every, task.updates):
            if state.row_due(task.every, task.updates):
                _validate(updater, state, checkpoints)
            else:
                progress.advance(note=_update(updater, state))
            # Each process has its own clock and signals, but all must save and stop alike.
            number, due = parallel.agree(received[-1] if received else 0, checkpoints.timer.due)
            finished = state.finished(task.every, task.updates)
            if number or finished or due:
                checkpoints.save(state, task.model, updater.optimizer)
            if number or finished:
                # A process that ends too early makes the launcher end the one that is writing.
                parallel.accelerator.wait_for_everyone()
            if number and not finished:
                stop(number, state.update)


def _update(updater: Updater, state: TrainState) -> str:
    """Do the next update; return a line of progress."""
    task = updater.task
    report = updater.run(state.update + 1)
    state.micro_batch = updater.micro_batch
    state.count(report, task.updates)
    task.trackers.update(state.update, report)
    if state.update == 1:
        # Its losses, measured before it changed a weight, are base's: they fill the first row.
        _write_history(updater, state)
    return state.summary(report)


def _validate(updater: Updater, state: TrainState, checkpoints: Checkpoints) -> None:
    """Measure the model, write a row of the history, and keep the best weights."""
    task, parallel = updater.task, updater.parallel
    autocast = parallel.accelerator.autocast
    measures = parallel.measure(updater.step, partial(task.measures, autocast))
    decisive = "rouge" if task.keep == "best_generator" else "tau"
    better = state.add_row(measures, task.updates_per_epoch, decisive)
    if better and task.keep != "last":
        checkpoints.save_best(state.update, task.model)
    task.trackers.validation(state.history[-1])
    _write_history(updater, state)


def _write_history(updater: Updater, state: TrainState) -> None:
    if updater.parallel.is_main and updater.task.history_file is not None:
        write_history(updater.task.history_file, state.history)
