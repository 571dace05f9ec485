"""The state of a training run: everything but its tensors, and the rules that read it."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from brido.utils.atomic import write_text
from brido.utils.errors import BridoError

# A loss that stays this much above the first interval's for this many validations diverges.
DIVERGED_VALIDATIONS = 5
DIVERGED_FACTOR = 1.05
# The measure of a validation that decides which weights are the best of a kind.
MEASURES = {"best_ranker": "tau", "best_generator": "rouge"}
# The last losses of a run are those of this share of its updates.
LAST_SHARE = 0.1
SUMMED = ("loss", "cross_entropy", "contrastive", "gradient_norm")
COLUMNS = ("update", "epoch", *SUMMED[:3], "learning_rate", "gradient_norm", "tau", "top1")


class DivergedError(BridoError):
    """Training does not converge; the message says how that was noticed."""


class UpdateReport(NamedTuple):
    """What an update did: losses as in Eq. 3, learning rate, gradient norm before clipping.

    gradient_norm is nan where nothing is clipped. speed: tokens of sources, references and
    candidates, of all processes, in a second.
    """

    loss: float
    cross_entropy: float
    contrastive: float
    learning_rate: float
    gradient_norm: float
    speed: float


@dataclass
class TrainState:
    """Everything of a run but its tensors.

    update: updates done. It is the sampler's position and the random state too, because both are
    functions of seed and update. history: a row a validation. interval: sums since its last row.
    best: for each kind (`best_ranker`, `best_generator`) its value and update. worse: validations
    in a row whose loss was above the first interval's; waited: validations since the last better
    one. micro_batch: candidates at once, where memory forced fewer than were asked for.
    last_losses: those of the last tenth of the updates. finished: why it is over, empty until then.
    """

    update: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    interval: dict[str, float] = field(default_factory=dict)
    best: dict[str, tuple[float, int]] = field(default_factory=dict)
    worse: int = 0
    waited: int = 0
    micro_batch: int | None = None
    last_losses: list[float] = field(default_factory=list)
    finished: str = ""

    @classmethod
    def of(cls, content: dict[str, Any]) -> TrainState:
        """The state that was written as `content`."""
        best = {kind: tuple(value) for kind, value in content["best"].items()}
        return cls(**content | {"best": best})

    def row_due(self, every: int, updates: int) -> bool:
        """Whether a row is due: before the first of `updates`, after `every`, and at the end."""
        if self.history and self.history[-1]["update"] == self.update:
            return False
        return self.update % every == 0 or self.update == updates

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

    def add_row(self, measures: dict[str, float], updates_per_epoch: int) -> list[str]:
        """Add a row of the interval's means and these measures to the history.

        Returns the kinds (`best_ranker`, `best_generator`) of which these weights are the best.
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
        better = []
        for kind, measure in MEASURES.items():
            value = row.get(measure, math.nan)
            if not math.isnan(value) and value > self.best.get(kind, (-math.inf, 0))[0]:
                better.append(kind)
                self.best[kind] = (value, self.update)
        return better

    def judge(self, better: list[str], keep: str, patience: int | None, updates: int) -> None:
        """Set `finished` if the run is over; raise DivergedError if the loss stays too high.

        better: what `add_row` returned; keep, patience: of `training`; updates: of the whole run.
        """
        decisive = "best_generator" if keep == "best_generator" else "best_ranker"
        self.waited = 0 if decisive in better else self.waited + 1
        loss = self.history[-1]["loss"]
        first = next((row["loss"] for row in self.history[1:]), math.nan)
        self.worse = self.worse + 1 if loss > first * DIVERGED_FACTOR else 0
        if self.worse >= DIVERGED_VALIDATIONS:
            raise DivergedError(
                f"the loss, {loss:.4g} at update {self.update}, was above its first value "
                f"({first:.4g}) for {self.worse} validations"
            )
        if self.update >= updates:
            self.finished = "all updates done"
        elif patience is not None and self.waited >= patience:
            best = self.best.get(decisive)
            since = f"since update {best[1]}" if best else "at all: none gave a value"
            self.finished = f"no better validation {since}"

    def summary(self, report: UpdateReport) -> str:
        """The present loss, tau and speed, for a line of progress."""
        tau = self.history[-1].get("tau")
        ranked = "" if tau is None else (
            f" (cross-entropy {report.cross_entropy:.4g}, contrastive {report.contrastive:.4g}), "
            f"tau {tau:.3f}"
        )  # fmt: skip
        return (
            f"loss {report.loss:.4g}{ranked}, rate {report.learning_rate:.2g}, "
            f"{report.speed:,.0f} tokens/s"
        )


def write_history(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write the rows as CSV, whole or not at all; NaN and infinity become empty cells.

    The columns are COLUMNS, then whatever else the rows have (a generator's measures), sorted.
    """
    extra = sorted({name for row in rows for name in row} - set(COLUMNS))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, *extra])
    for row in rows:
        writer.writerow([_cell(row.get(name, math.nan)) for name in (*COLUMNS, *extra)])
    write_text(path, text.getvalue())


def _cell(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.6g}" if math.isfinite(value) else ""
