"""The state of a training run: everything but its tensors, and the rules that read it."""

import csv
import io
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from brido.utils.atomic import write_text

# The last losses of a run are those of this share of its updates.
LAST_SHARE = 0.1
SUMMED = ("loss", "cross_entropy", "contrastive", "gradient_norm")
COLUMNS = ("update", "epoch", *SUMMED[:3], "learning_rate", "gradient_norm", "tau", "top1")


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

    def summary(self, report: UpdateReport) -> str:
        """Return the present loss, tau and learning rate, for a line of progress."""
        tau = self.history[-1].get("tau")
        ranked = "" if tau is None else (
            f" (cross-entropy {report.cross_entropy:.4g}, contrastive {report.contrastive:.4g}), "
            f"tau {tau:.3f}"
        )  # fmt: skip
        return f"loss {report.loss:.4g}{ranked}, rate {report.learning_rate:.2g}"


def write_history(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write the rows as CSV, whole or not at all; NaN and infinity become empty cells.

    The columns are COLUMNS, then all others of the rows (a generator's measures), sorted.
    """
    extra = sorted({name for row in rows for name in row} - set(COLUMNS))
    text = io.StringIO()
    writer = csv.DictWriter(text, [*COLUMNS, *extra], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    write_text(path, text.getvalue())


def _cell(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.6g}" if math.isfinite(value) else ""
