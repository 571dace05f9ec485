"""Figures over experiments: headline numbers against alpha, and against the diversity penalty."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brido.report.display import display, metric_label
from brido.report.metrics import Estimates
from brido.report.style import COLOURS, panels
from brido.report.summary import headline_columns
from experiments.paper_layouts import ALPHA, ETA
from experiments.runs import Run, find_base, find_run


def varied(
    runs: Sequence[Run], key: str, others: Mapping[str, Any] | None = None
) -> list[tuple[float, Run]]:
    """(value, run) for every value of `key`, by value; `others` and the rest as in the first run.

    others: further keys with a value of their own.
    """
    values = sorted(
        {float(run.params[key]) for run in runs if key in run.params and not run.broken}
    )
    found = ((value, find_run(runs, {**(others or {}), key: value})) for value in values)
    return [(value, run) for value, run in found if run is not None and "tuned" in run.systems]


def draw_curves(folder: Path, runs: Sequence[Run]) -> list[Path]:
    """Write alpha.png/svg and eta.png/svg for what varies in `runs`; return the PNGs."""
    written = []
    first = find_base(runs)
    base = first.systems.get("base", {}) if first else {}
    for name, key, label in (
        ("alpha", ALPHA, "weight of the reference α"),
        ("eta", ETA, "diversity penalty η"),
    ):
        points = varied(runs, key)
        if len(points) > 1:
            _curve(folder, name, points, base, label)
            written.append(folder / f"{name}.png")
    return written


def _curve(
    folder: Path, name: str, points: Sequence[tuple[float, Run]], base: Estimates, label: str
) -> None:
    """A panel per headline number: tuned with intervals over the values, base as a line."""
    columns = headline_columns({run.name: run.systems["tuned"] for _, run in points})
    ticks = ["∞" if math.isinf(value) else f"{value:g}" for value, _ in points]
    with panels(folder, name, len(columns), height=2.5) as (figure, axes):
        for (metric, submetric), axis in zip(columns, axes, strict=True):
            column = display(metric, submetric)
            items = [run.systems["tuned"].get(metric, {}).get(submetric) for _, run in points]
            there = [(place, item) for place, item in enumerate(items) if item is not None]
            axis.errorbar(
                [place for place, _ in there],
                [column.factor * item.mean for _, item in there],
                yerr=[
                    [column.factor * (item.mean - item.low) for _, item in there],
                    [column.factor * (item.high - item.mean) for _, item in there],
                ],
                color=COLOURS[0], marker="o", capsize=2, elinewidth=1, label="tuned",
            )  # fmt: skip
            if (level := base.get(metric, {}).get(submetric)) is not None:
                height = column.factor * level.mean
                axis.axhline(height, color=COLOURS[1], linestyle="--", label="base")
            axis.set_xticks(range(len(ticks)), ticks)
            axis.set_title(f"{metric_label(metric)}: {column.heading}")
            axis.set_xlabel(label)
        handles = axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper right", ncols=2)
