"""What is written down about a run while it goes on, and what that says about its end."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any

from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from torch import nn

from brido.training.checkpointing import Checkpoints, RunState
from brido.training.history import write_history
from brido.training.sharding import inside, is_sharded
from brido.training.task import Task
from brido.training.update import DivergedError, Updater, UpdateReport
from brido.training.validation import GENERATOR_MEASURE, RANKER_MEASURE

# A loss that stays this much above the first interval's for this many validations diverges.
DIVERGED_VALIDATIONS = 5
DIVERGED_FACTOR = 1.05
MEASURES = {"best_ranker": RANKER_MEASURE, "best_generator": GENERATOR_MEASURE}
# The last losses of a run are those of this share of its updates.
LAST_SHARE = 0.1
SUMMED = ("loss", "cross_entropy", "contrastive", "gradient_norm")


class Monitor:
    """Keeps history, best weights and checkpoints of one run; the first process alone writes."""

    def __init__(
        self,
        task: Task,
        checkpoints: Checkpoints,
        accelerator: Accelerator,
        state: RunState,
        step: nn.Module,
    ) -> None:
        self.task, self.checkpoints, self.step = task, checkpoints, step
        self.accelerator, self.state = accelerator, state
        self._tokens = 0.0
        self._started = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether a row of the history is due: at the start, every so often, and at the end."""
        state, task = self.state, self.task
        if state.history and state.history[-1]["update"] == state.update:
            return False
        return state.update % task.every == 0 or state.update == task.updates

    def note(self, report: UpdateReport) -> None:
        """Count one update in the running interval."""
        interval = self.state.interval
        for name in SUMMED:
            interval[name] = interval.get(name, 0.0) + getattr(report, name)
        interval["updates"] = interval.get("updates", 0) + 1
        interval["learning_rate"] = report.learning_rate
        self._tokens += report.tokens
        if self.state.update > self.task.updates - max(1, int(self.task.updates * LAST_SHARE)):
            self.state.last_losses.append(report.loss)
        if self.state.update == 1:
            # The losses of the first update were measured before it: they are the base model's.
            row = self.state.history[0]
            row.update({name: getattr(report, name) for name in (*SUMMED, "learning_rate")})
            self.write_history()

    def summary(self, report: UpdateReport) -> str:
        """The present loss, tau and speed, for a line of progress."""
        speed = self._tokens / max(time.monotonic() - self._started, 1e-9)
        tau = self.state.history[-1].get(RANKER_MEASURE)
        ranked = "" if tau is None else (
            f" (cross-entropy {report.cross_entropy:.4g}, contrastive {report.contrastive:.4g}), "
            f"tau {tau:.3f}"
        )  # fmt: skip
        return (
            f"loss {report.loss:.4g}{ranked}, rate {report.learning_rate:.2g}, "
            f"{speed:,.0f} tokens/s"
        )

    def validate(self) -> None:
        """Add a row to the history; keep better weights; decide whether the run is over.

        Raises:
            DivergedError: the loss has been above its first value for too long.
        """
        state = self.state
        row = self._interval_row()
        # One process measures while the others wait, so that all decide on the same numbers; of a
        # sharded model everyone has a part, and all do the same.
        measures: dict[str, float] = {}
        if self.accelerator.is_main_process or is_sharded(self.step):
            measures = inside(self.step, partial(self.task.measures, self.accelerator.autocast))
        row |= broadcast_object_list([measures])[0]
        state.history.append(row)
        better = self._keep_best(row)
        self.write_history()
        self._judge(row, better)
        self._tokens, self._started = 0.0, time.monotonic()
        state.interval = {}

    def save(self, updater: Updater) -> None:
        """Write a checkpoint."""
        self.checkpoints.save(self.state, self.task.model, updater.optimizer)

    def _interval_row(self) -> dict[str, Any]:
        state, interval = self.state, self.state.interval
        count = interval.get("updates", 0)
        row: dict[str, Any] = {
            "update": state.update,
            "epoch": state.update / self.task.updates_per_epoch,
            "learning_rate": interval.get("learning_rate", math.nan),
        }
        for name in SUMMED:
            row[name] = interval[name] / count if count else math.nan
        return row

    def _keep_best(self, row: dict[str, Any]) -> set[str]:
        """The kinds of which these weights are the best so far; they are written down."""
        better = set()
        for kind, measure in MEASURES.items():
            value = row.get(measure, math.nan)
            if not math.isnan(value) and value > self.state.best.get(kind, (-math.inf, 0))[0]:
                better.add(kind)
                self.state.best[kind] = (value, self.state.update)
                self.checkpoints.save_best(kind, self.state.update, self.task.model)
        return better

    def _judge(self, row: dict[str, Any], better: set[str]) -> None:
        state, task = self.state, self.task
        decisive = "best_generator" if task.keep == "best_generator" else "best_ranker"
        state.waited = 0 if decisive in better else state.waited + 1
        first = next((r["loss"] for r in state.history[1:]), math.nan)
        state.worse = state.worse + 1 if row["loss"] > first * DIVERGED_FACTOR else 0
        if state.worse >= DIVERGED_VALIDATIONS:
            raise DivergedError(
                f"the loss, {row['loss']:.4g} at update {state.update}, was above its first value "
                f"({first:.4g}) for {state.worse} validations"
            )
        if state.update >= task.updates:
            state.finished = "all updates done"
        elif task.patience is not None and state.waited >= task.patience:
            best = state.best.get(decisive)
            since = f"since update {best[1]}" if best else "at all: none gave a value"
            state.finished = f"no better validation {since}"

    def write_history(self) -> None:
        """Write the history as it stands."""
        if self.accelerator.is_main_process and self.task.history_file is not None:
            write_history(self.task.history_file, self.state.history)
