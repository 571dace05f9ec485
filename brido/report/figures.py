"""The report's figures, each as SVG and PNG: votes, training, length, correlation of metrics."""

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

import numpy as np
from numpy.typing import NDArray

from brido.report.display import ColumnKey, display, metric_label
from brido.report.metrics import Estimate, Estimates, Scores
from brido.report.numbers import Numbers
from brido.report.style import COLOURS, drawing, line_style, panels
from brido.report.summary import headline_columns
from brido.report.unsupported import VoteBin
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


def draw_report(
    folder: Path,
    numbers: Numbers,
    bins: Sequence[VoteBin],
    curves: Mapping[str, list[float]],
) -> None:
    """Write votes, training, length and correlation, each as SVG and PNG, as all of `folder`."""
    with atomic_folder(folder) as temporary:
        votes_figure(temporary, bins)
        training_figure(temporary, curves)
        length_figure(temporary, numbers.systems, numbers.lengths)
        models = [item for name, item in numbers.scores.items() if name != "reference"]
        correlation_figure(temporary, models)


def votes_figure(folder: Path, bins: Sequence[VoteBin]) -> None:
    """Share of candidates with an unsupported mention against the share of elected ones.

    One panel an order of candidates, side by side; on the diagonal an order changes nothing, below
    it the order removes. A point's area shows how many cases its bin has.
    """
    rankings = list(bins[0].elected) if bins else ["no unsupported mention"]
    most = max((item.cases for item in bins), default=1)
    with drawing(folder, "votes", 1, len(rankings), width=3.6, height=3.7) as axes:
        for index, ranking in enumerate(rankings):
            axis = axes[0, index]
            axis.plot([0, 1], [0, 1], color="#999999", linestyle=":", linewidth=1.2)
            style = line_style(index) | {"marker": None}
            pool = [item.pool for item in bins]
            elected = [item.elected[ranking] for item in bins]
            axis.plot(pool, elected, **style)
            axis.scatter(
                pool, elected, s=[20 + 120 * item.cases / most for item in bins],
                color=style["color"], zorder=3, edgecolor="white",
            )  # fmt: skip
            for item in bins:
                axis.annotate(
                    f"{item.elected[ranking]:.2f}", (item.pool, item.elected[ranking]),
                    textcoords="offset points", xytext=(7, -11), fontsize=8, color="#444444",
                )  # fmt: skip
            axis.set(title=fill(ranking, 36), xlim=(0, 1.05), ylim=(-0.1, 1.05), aspect="equal")
            axis.set_xlabel("share of candidates that have\nan unsupported mention")
            axis.set_ylabel("share of first candidates that have it")
        axes[0, 0].text(0.04, 0.97, "kept or preferred", color="#777777", fontsize=8, va="top")
        axes[0, 0].text(0.98, 0.02, "removed", color="#777777", fontsize=8, ha="right")


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
                    **(line_style(index) | {"linestyle": "none"}),
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


def correlation(scores: Sequence[Scores]) -> tuple[list[ColumnKey], NDArray[np.float64]]:
    """Spearman's rank correlation of submetrics over documents: (columns, matrix [K, K]).

    Computed within each system and averaged over systems, so that a difference between systems
    is not mistaken for agreement between metrics. Columns that are constant in some system or
    missing there are left out; documents without a number in either of two columns count not.
    """
    import pandas as pd

    frames = [pd.DataFrame(item.values, columns=pd.Index(item.columns)) for item in scores]
    shared = [
        column
        for column in scores[0].columns
        if all(
            column in frame and frame[column].count() > 2 and frame[column].nunique() > 1
            for frame in frames
        )
    ]
    found = [frame[shared].corr("spearman", min_periods=3).to_numpy() for frame in frames]
    return shared, np.mean(found, axis=0)


def correlation_figure(folder: Path, scores: Sequence[Scores]) -> None:
    """The correlation of metrics as a matrix with its numbers written in."""
    columns, matrix = correlation(scores)
    labels = [f"{metric_label(metric)}: {display(metric, key).label}" for metric, key in columns]
    side = 1.8 + 0.36 * len(columns)
    with drawing(folder, "correlation", width=side + 0.8, height=side) as axes:
        axis = axes[0, 0]
        if not columns:
            axis.set_axis_off()
            axis.set_title("No metric varies over the documents")
            return
        # Purple to orange: told apart by the colour-blind, and the numbers say the rest in grey.
        image = axis.imshow(matrix, cmap="PuOr_r", vmin=-1, vmax=1)
        axis.grid(visible=False)
        axis.set_xticks(range(len(labels)), labels, rotation=90, fontsize=7.5)
        axis.set_yticks(range(len(labels)), labels, fontsize=7.5)
        for (row, column), value in np.ndenumerate(matrix):
            if math.isfinite(value):
                colour = "white" if abs(value) > 0.6 else "#333333"
                text = f"{value:.2f}".replace("0.", ".").replace("-", "\u2212")
                axis.text(column, row, text, ha="center", va="center", color=colour, fontsize=6)
        axis.figure.colorbar(image, shrink=0.6, label="Spearman over documents")
        axis.set(title="Do the metrics agree?", xlabel="metric: number", ylabel="metric: number")
