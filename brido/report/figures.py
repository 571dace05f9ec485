"""The report's figures, each as SVG and PNG: the training, and every number against the length."""

import csv
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from brido.report.display import display, metric_label
from brido.report.metrics import Estimate, Estimates
from brido.report.numbers import Numbers
from brido.report.style import COLOURS, MARKERS, panels
from brido.report.summary import headline_columns
from brido.utils.atomic import atomic_folder
from brido.utils.errors import BridoError

# Columns of training.csv that are not drawn.
_NO_CURVES = {"epoch"}
# Labels of axes, where the column's name is not enough.
_AXES = {
    "tau": "Kendall's tau",
    "top1": "share with same first",
    "mentions_precision": "supported mentions",
    "mentions_unsupported": "unsupported texts",
    "r1": "ROUGE-1",
    "r2": "ROUGE-2",
    "rl": "ROUGE-L",
    "rlsum": "ROUGE-Lsum",
    "rouge": "mean ROUGE",
}


def draw_report(folder: Path, numbers: Numbers, curves: Mapping[str, list[float]]) -> None:
    """Write training and length, each as SVG and PNG, as all of `folder`."""
    with atomic_folder(folder) as temporary:
        training_figure(temporary, curves)
        length_figure(temporary, numbers.systems, numbers.lengths)


def read_training(path: Path) -> dict[str, list[float]]:
    """metrics/training.csv as columns; an empty field is NaN. BridoError where it is missing."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {
            name: [float(row[name]) if row[name] else math.nan for row in rows]
            for name in (rows[0] if rows else {})
        }
    except FileNotFoundError:
        raise BridoError(f"{path} is missing: make it with `dvc repro train`") from None
    except (ValueError, TypeError) as error:
        raise BridoError(
            f"{path} contains a field that is not a number ({error}): `dvc repro -f train`"
        ) from None


def training_figure(folder: Path, curves: Mapping[str, list[float]]) -> None:
    """One small panel a curve over the first column of `curves` (the update)."""
    axis_name = next(iter(curves), "")
    steps = curves.get(axis_name, [])
    left_out = _NO_CURVES | {axis_name}
    shown = [key for key in curves if key not in left_out and np.isfinite(curves[key]).any()]
    with panels(folder, "training", len(shown), height=2.3) as (figure, axes):
        figure.suptitle("Training, update by update")
        for key, axis in zip(shown, axes, strict=True):
            values = np.array(curves[key])
            there = np.isfinite(values)
            marker = "o" if there.sum() <= 40 else None
            axis.plot(
                np.array(steps)[there], values[there], color=COLOURS[0], marker=marker,
                markersize=3.5, linewidth=1.4,
            )  # fmt: skip
            axis.set(
                xlabel=axis_name.replace("_", " "), ylabel=_AXES.get(key, key.replace("_", " "))
            )


def length_figure(
    folder: Path,
    systems: Mapping[str, Estimates],
    lengths: Mapping[str, Estimate],
) -> None:
    """Every headline number against the mean length, a point a system, intervals as bars."""
    shown = [column for column in headline_columns(systems) if column[1] != "length"]
    with panels(folder, "length", len(shown), height=2.6) as (figure, axes):
        for (metric, submetric), axis in zip(shown, axes, strict=True):
            column = display(metric, submetric)
            for index, (system, estimates) in enumerate(systems.items()):
                across = lengths[system]
                item = estimates.get(metric, {}).get(submetric)
                if item is None:
                    continue
                low, mean, high = (
                    column.factor * value for value in (item.low, item.mean, item.high)
                )
                axis.errorbar(
                    across.mean, mean,
                    xerr=[[across.mean - across.low], [across.high - across.mean]],
                    yerr=[[mean - low], [high - mean]], label=system, capsize=2, elinewidth=1,
                    color=COLOURS[index % len(COLOURS)], marker=MARKERS[index % len(MARKERS)],
                    linestyle="none",
                )  # fmt: skip
            axis.set(
                xlabel="mean length (words)", ylabel=f"{metric_label(metric)}: {column.heading}"
            )
        # A system may be missing in some panels (the reference has no ROUGE): look in all of them.
        found = {
            label: handle
            for axis in axes
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        named = {system: found[system] for system in systems if system in found}
        figure.legend(named.values(), named.keys(), loc="outside upper right", ncols=len(systems))
