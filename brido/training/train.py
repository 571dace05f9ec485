"""The training loop around a `Run`: what is set up before it, and checked behind it."""

from contextlib import nullcontext

from brido.models.products import faster_training
from brido.training.checkpoints import Checkpoints
from brido.training.devices import checkpoint_layers, trackers
from brido.training.parallel import Parallel, make_parallel
from brido.training.run import Run, TrainState
from brido.training.task import Task
from brido.utils.errors import BridoError
from brido.utils.progress import say


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
        state = TrainState(**checkpoints.load(model, optimizer))
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
        if state.best is None:
            raise BridoError(
                f"{task.key}.keep: no validation gave a value for {task.keep}: write last"
            )
        checkpoints.load_best(state.best[1], model)
    # The others may still be reading what the caller removes.
    parallel.accelerator.wait_for_everyone()
    parallel.collect(model)
    return state


def _announce(task: Task, parallel: Parallel) -> None:
    """Say how long the run is and what may be wrong with it, before it costs anything."""
    for warning in task.warnings():
        say(f"{task.name}: warning: {warning}")
    where = f"{f' on {parallel.count} processes' if parallel.count > 1 else ''}{parallel.note}"
    reached = max(task.rate(update) for update in range(1, task.updates + 1))
    say(f"{task.name}: {task.updates:,} updates{where}, learning rate at most {reached:.2g}")
