"""The training loop: updates, validations, checkpoints, and when to stop."""

from __future__ import annotations

import contextlib
import math
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from transformers import PreTrainedModel

from brido.errors import BridoError
from brido.models.language_model import LanguageModel
from brido.progress import Progress, say
from brido.settings import RuntimeSettings, TrainingSettings
from brido.training.batches import Batches, Plan
from brido.training.checkpointing import Checkpoints, RunState
from brido.training.devices import checkpoint_layers, make_accelerator
from brido.training.documents import RankedDocument, RankedDocuments
from brido.training.monitor import Monitor
from brido.training.schedule import highest_rates
from brido.training.signals import StopRequest
from brido.training.step import ContrastiveStep
from brido.training.update import DivergedError, Updater
from brido.training.validation import MeasureSample

# A state is written so often, but no more of the time than this share goes into writing.
STATE_SECONDS = 15.0
STATE_SHARE = 0.02

# Keys of a model's config that make its training passes random.
RANDOM_LAYERS = (
    "dropout",
    "attention_dropout",
    "activation_dropout",
    "dropout_rate",
    "encoder_layerdrop",
    "decoder_layerdrop",
)


@dataclass
class Task:
    """What is trained on what: the model, the documents, and where results go.

    folder keeps the unfinished run; history_file is metrics/training.csv. `generator` decodes a
    sample at each validation, or is None.
    """

    language: LanguageModel
    documents: RankedDocuments
    validation: Sequence[RankedDocument]
    settings: TrainingSettings
    runtime: RuntimeSettings
    folder: Path
    history_file: Path
    generator: MeasureSample | None = None

    @property
    def model(self) -> PreTrainedModel:
        """The model being trained."""
        return self.language.model

    @property
    def batches(self) -> Batches:
        """Documents as this model's tensors."""
        return Batches(self.language, self.settings.max_candidate_tokens)


def train(task: Task) -> RunState:
    """The state at the end of a run; `task.model` then holds the weights of `settings.keep`.

    A run that was killed goes on from its last checkpoint and ends in the same weights. SIGTERM
    and Ctrl-C write a checkpoint and end the process (exit status 143; KeyboardInterrupt).

    Raises:
        BridoError: settings that make no sense, a loss that diverges (the best weights so far stay
            in `task.folder`), too little memory, or a checkpoint of another model.
    """
    _check(task)
    accelerator = make_accelerator(task.runtime)
    if task.runtime.gradient_checkpointing:
        checkpoint_layers(task.model)
    task.model.train()
    checkpoints = Checkpoints(task.folder)
    # Open until the last backward pass: layer checkpoints run the attention again there.
    with task.language.family.training(task.model):
        updater = _updater(task, accelerator)
        optimizer = updater.optimizer
        state = checkpoints.load(task.model, optimizer) or RunState()
        updater.micro_batch = state.micro_batch or task.runtime.candidate_micro_batch
        _check_same_start(state, accelerator)
        if accelerator.is_main_process and not state.update:
            _announce(updater)
        monitor = Monitor(task, checkpoints, accelerator, state, documents_at_once(task))
        try:
            _updates(updater, monitor)
        except DivergedError as error:
            raise BridoError(_divergence(error, task, state)) from None
    if task.settings.keep != "last":
        if task.settings.keep not in state.best:
            raise BridoError(
                f"training.keep: no validation gave a value for {task.settings.keep}; use last"
            )
        checkpoints.load_best(task.settings.keep, state.best[task.settings.keep][1], task.model)
    return state


def _announce(updater: Updater) -> None:
    """Say how far the run goes, before it costs anything."""
    settings, updates = updater.settings, updater.plan.updates
    reached, meant = highest_rates(
        updates, settings.learning_rate, settings.warmup_steps, settings.schedule
    )
    say(f"train: {updates:,} updates, learning rate at most {reached:.2g}")
    if reached < meant / 10:
        say(
            f"warning: that is less than a tenth of the {meant:.2g} meant: the warm-up of "
            f"{settings.warmup_steps:,} updates is longer than the run. Lower "
            "training.warmup_steps, or train on more documents or epochs"
        )


def _updates(updater: Updater, monitor: Monitor) -> None:
    """Run what is left of the plan, with validations and checkpoints where they are due."""
    state, task, last = monitor.state, monitor.task, updater.plan.updates
    saved, pause = time.monotonic(), _pause(0.0, task.runtime.checkpoint_minutes * 60)
    with StopRequest(updater.accelerator) as stop, contextlib.ExitStack() as stack:
        progress = None
        if updater.accelerator.is_main_process:
            seconds = task.runtime.log_seconds
            progress = stack.enter_context(Progress("train", last, "updates", seconds))
            progress.skip(state.update)
        if state.history:
            monitor.write_history()
        else:
            monitor.validate(updater)
        while not state.finished:
            report = updater.run(state.update + 1)
            state.update += 1
            state.micro_batch = updater.micro_batch
            monitor.note(report)
            if state.update % task.settings.validation.every == 0 or state.update == last:
                monitor.validate(updater)
            if progress is not None:
                progress.advance(note=monitor.summary(report))
            number = stop.agreed()
            due = time.monotonic() - saved >= pause
            if number or due or state.finished:
                began = time.monotonic()
                monitor.save(updater)
                saved = time.monotonic()
                pause = _pause(saved - began, task.runtime.checkpoint_minutes * 60)
            if number or state.finished:
                # A process that ends too early makes the launcher end the one that is writing.
                updater.accelerator.wait_for_everyone()
            if number and not state.finished:
                _stop(number, state)


def _pause(writing: float, longest: float) -> float:
    """Seconds to the next state on disk, when writing the last one took `writing` seconds."""
    return min(longest, max(STATE_SECONDS, writing / STATE_SHARE))


def _stop(number: int, state: RunState) -> None:
    say(f"stopped after update {state.update}; run again to go on from there")
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _updater(task: Task, accelerator: Accelerator) -> Updater:
    settings = task.settings
    parameters = [weight for weight in task.model.parameters() if weight.requires_grad]
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings.optimizer]
    optimizer = kind(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    step, optimizer = accelerator.prepare(ContrastiveStep(task.model, settings), optimizer)
    return Updater(
        step,
        optimizer,
        task.batches,
        task.documents,
        Plan(len(task.documents), settings.batch_size, settings.epochs, settings.seed),
        settings,
        accelerator,
        chunk=documents_a_chunk(task),
        micro_batch=None,
    )


def documents_at_once(task: Task) -> int:
    """How many documents with all their candidates are within runtime.batch_tokens, at least 1."""
    sequences = 1 + task.documents.num_candidates
    settings = task.settings
    longest = task.language.reading.max_source_tokens
    tokens = longest + sequences * settings.max_candidate_tokens
    return max(1, min(settings.batch_size, task.runtime.batch_tokens // tokens))


def documents_a_chunk(task: Task) -> int:
    """How many documents are trained on together: `documents_at_once`, but one with dropout.

    Dropout masks belong to a chunk of documents, so with dropout chunks must not depend on a
    runtime setting.
    """
    config = task.model.config.to_dict()
    return 1 if any(config.get(key) for key in RANDOM_LAYERS) else documents_at_once(task)


def _check(task: Task) -> None:
    problems = []
    rate = task.settings.learning_rate
    if not math.isfinite(rate) or rate <= 0:
        problems.append(f"training.learning_rate: must be a number above 0, not {rate}")
    if task.settings.keep == "best_generator" and task.generator is None:
        problems.append("training.keep: best_generator needs a generator, and there is none here")
    if not task.documents:
        problems.append("no document has two distinct candidates: there is no order to learn")
    if not task.validation:
        problems.append("no validation document has two distinct candidates")
    if problems:
        raise BridoError.from_problems("training cannot start:", problems)


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
    return (
        f"training diverged: {error}; {kept}. Lower training.learning_rate or training.gamma, or "
        "set training.max_gradient_norm"
    )
