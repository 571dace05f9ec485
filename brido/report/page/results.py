"""The metrics table of the page, as plain cells that the template lays out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brido.report.display import DIRECTIONS, ColumnKey, display, metric_label
from brido.report.metrics import Estimate, Estimates
from brido.report.summary import excludes_zero


@dataclass(frozen=True)
class Cell:
    """One number: its text, its interval's text, and how it stands out.

    `tone` is "better" or "worse" for a difference whose interval leaves out 0, "best" for the
    best of the model systems, else "".
    """

    value: str
    interval: str = ""
    tone: str = ""


@dataclass(frozen=True)
class ResultTable:
    """Head cells (metric, label with unit, hint on direction) and rows of cells.

    `groups` are the metrics with the number of columns that each spans.
    """

    groups: Sequence[tuple[str, int]]
    heads: Sequence[tuple[str, str, str]]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    differences: Sequence[tuple[str, Sequence[Cell]]]


def result_table(
    columns: Sequence[ColumnKey],
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
    voting: str = "",
) -> ResultTable:
    """The table of `columns`, a row a system, then a row a paired difference.

    The metric `voting`, the checker that also voted, is marked.
    """
    groups: list[tuple[str, int]] = []
    for metric, _ in columns:
        label = metric_label(metric, voting)
        if groups and groups[-1][0] == label:
            groups[-1] = (label, groups[-1][1] + 1)
        else:
            groups.append((label, 1))
    shown = [display(*column) for column in columns]
    heads = [(column.heading, *DIRECTIONS[column.better]) for column in shown]
    best = {column: _best(column, systems) for column in columns}
    rows = [
        (name, [_cell(estimates, column, name in best[column]) for column in columns])
        for name, estimates in systems.items()
    ]
    gaps = [
        (_minus(name), [_difference_cell(estimates, column) for column in columns])
        for name, estimates in differences.items()
    ]
    return ResultTable(groups, heads, rows, gaps)


def _best(column: ColumnKey, systems: Mapping[str, Estimates]) -> set[str]:
    """The model systems with the best mean; the reference does not compete."""
    better = display(*column).better
    found = {
        name: item
        for name, estimates in systems.items()
        if name != "reference" and (item := _item(estimates, column)) is not None
    }
    if better == "neither" or len(found) < 2:
        return set()
    pick = max if better == "higher" else min
    top = pick(item.mean for item in found.values())
    return {name for name, item in found.items() if item.mean == top}


def _item(estimates: Estimates, column: ColumnKey) -> Estimate | None:
    return estimates.get(column[0], {}).get(column[1])


def _cell(estimates: Estimates, column: ColumnKey, best: bool) -> Cell:
    item = _item(estimates, column)
    if item is None:
        return Cell("–")
    shown = display(*column)
    spread = " to ".join(shown.ends(item.low, item.high))
    return Cell(shown.text(item.mean), spread, "best" if best else "")


def _difference_cell(estimates: Estimates, column: ColumnKey) -> Cell:
    item = _item(estimates, column)
    if item is None:
        return Cell("–")
    shown = display(*column)
    tone = ""
    if excludes_zero(item, *column) and shown.better != "neither":
        tone = "better" if (item.mean > 0) == (shown.better == "higher") else "worse"
    spread = " to ".join(shown.ends(item.low, item.high, signed=True))
    return Cell(_minus(shown.text(item.mean, True)), _minus(spread), tone)


def _minus(text: str) -> str:
    """A typographic minus sign, as wide as the plus."""
    return re.sub(r"(?<![^\s])-", "\u2212", text)
