"""Means and intervals over runs, and how a table writes them.

There is one yardstick: Student's t over the means of runs, at least three of them. Of fewer runs
the values are printed one by one, without an interval and never in bold.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from experiments.rows import by_run, marked

FEWEST = 3
Record = dict[str, str]
Pairs = Sequence[tuple[Any, Any]]


def gaps(both: Pairs, mark: str = "good") -> list[float]:
    """Of each run the first system's share of summaries with a mark minus the second's, in points.

    Runs in which that was not measured are left out.
    """
    found = [100 * (share(first, mark) - share(second, mark)) for first, second in both]
    return [value for value in found if not np.isnan(value)]


def share(row: Any, mark: str) -> float:
    """The share of a row's documents with a mark; NaN where it was not measured."""
    return float(marked(row, mark).mean())


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Student's 95 % interval of the mean of at least three runs."""
    wide = t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return float(np.mean(values) - wide), float(np.mean(values) + wide)


def points(values: Sequence[float], bold: bool = False) -> str:
    """Mean and interval of the values of runs; fewer than three are printed one by one.

    bold: in bold where the interval does not hold 0.
    """
    if len(values) < FEWEST:
        return ", ".join(f"{value:+.1f}" for value in values)
    low, high = interval(values)
    text = f"{np.mean(values):+.1f} [{low:+.1f}, {high:+.1f}]"
    # By the digits that the table shows: [-15.6, -0.0] would look like a mistake in bold.
    return f"**{text}**" if bold and (round(low, 1) > 0 or round(high, 1) < 0) else text


def markdown(records: Iterable[Mapping[str, Any]]) -> str:
    """Records as a Markdown table without its empty columns."""
    frame = pd.DataFrame(list(records)).fillna("")
    frame = frame.loc[:, (frame != "").any() | (np.arange(len(frame.columns)) == 0)]
    return frame.to_markdown(index=False, disable_numparse=True)


def systems_table(rows: pd.DataFrame) -> str:
    """A row for each system of one setting: means over runs on test documents."""
    runs = by_run(rows).values()
    names = [name for name in rows.system.unique() if name not in ("base", "reference")]

    def record(name: str) -> Record:
        own = [run[name] for run in runs if name in run]
        found = {"system": name, "runs": f"{len(own)}"}
        for mark in ("good", "unsupported", "whole"):
            found[mark] = f"{100 * np.mean([share(row, mark) for row in own]):.1f}"
        for other in ("base", "control"):
            both = [(run[name], run[other]) for run in runs if name in run and other in run]
            found[f"good - {other}"] = "" if name == other else points(gaps(both))
        for label, column in (("ROUGE-1", "r1"), ("words", "words")):
            found[label] = f"{np.mean([getattr(row, column) for row in own]):.1f}"
        return found

    return markdown(map(record, ["base", *names]))
