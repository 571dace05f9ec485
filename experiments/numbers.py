"""Means, differences and their intervals over runs, as numbers and as the text of a table."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t

from experiments.rows import by_run, marked, row_of

SAMPLES = 2000
Values = Sequence[NDArray[np.float64]]
Pairs = Sequence[tuple[Any, Any]]


def pairs(rows: pd.DataFrame, first: str, second: str) -> Pairs:
    """The rows of two systems on test documents, for each run that has both."""
    both = [(row_of(own, first), row_of(own, second)) for _, own in by_run(rows)]
    return [(one, other) for one, other in both if one is not None and other is not None]


def gaps(both: Pairs) -> Values:
    """Good summaries of the first minus the second's, document by document, run by run.

    Runs in which that was not measured are left out.
    """
    found = [marked(first, "good") - marked(second, "good") for first, second in both]
    return [values for values in found if not np.isnan(values).any()]


def points(values: Values, alike: Sequence[Any] | None = None) -> str:
    """Mean and interval of differences, in points; empty without runs. alike: see `interval`."""
    if not values:
        return ""
    mean, low, high = (100 * value for value in interval(values, alike=alike))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def clear(values: Values) -> str:
    """`points`, in bold if the interval does not hold 0."""
    text = points(values)
    # By the digits that the table shows: [-15.6, -0.0] would look like a mistake in bold.
    _, low, high = np.round(interval(values), 3) if values else (0.0, 0.0, 0.0)
    return f"**{text}**" if low > 0 or high < 0 else text


def percent(rows: Sequence[Any], mark: str) -> str:
    """The mean share of documents with a mark over some rows, empty if it was not measured."""
    mean = float(np.mean([marked(row, mark).mean() for row in rows])) if rows else np.nan
    return "" if np.isnan(mean) else f"{100 * mean:.1f}"


def interval(values: Values, alike: Sequence[Any] | None = None) -> tuple[float, float, float]:
    """Mean and 95 % interval of the mean; values[s] are the documents of run s.

    It covers another world and another training run as well. Of two intervals it has the wider
    ends: Student's t over the means of runs, because the bootstrap of three runs holds the truth
    in four of five cases; and the bootstrap of runs and of the documents of each drawn run. Of one
    or two runs it is the bootstrap alone, and says little of another run. Runs with the same
    alike[s], such as their base, count as one group, because they are not independent.
    """
    numbers = pd.factorize(pd.Series(range(len(values)) if alike is None else list(alike)))[0]
    arrays = tuple(np.asarray(one, float).tobytes() for one in values)
    return _interval(arrays, tuple(numbers.tolist()))


@cache
def _interval(values: tuple[bytes, ...], alike: tuple[int, ...]) -> tuple[float, float, float]:
    arrays = [np.frombuffer(one) for one in values]
    groups: list[list[NDArray[np.float64]]] = [[] for _ in set(alike)]
    for one, number in zip(arrays, alike, strict=True):
        groups[number].append(one)
    rng = np.random.default_rng(0)
    means = []
    for _ in range(SAMPLES):
        indices = rng.integers(len(groups), size=len(groups))
        drawn = [one for index in indices for one in groups[index]]
        sums = [np.add.reduce(one[rng.integers(len(one), size=len(one))]) for one in drawn]
        means.append(np.mean([total / len(one) for total, one in zip(sums, drawn, strict=True)]))
    low, high = np.percentile(means, [2.5, 97.5])
    mean = float(np.mean([one.mean() for one in arrays]))
    wide = _student([[one.mean() for one in group] for group in groups], mean)
    return mean, min(float(low), mean - wide), max(float(high), mean + wide)


def _student(groups: Sequence[Sequence[float]], mean: float) -> float:
    """Half of Student's 95 % interval of a mean over groups of runs; 0 for fewer than three."""
    count, runs = len(groups), sum(map(len, groups))
    if count < 3:
        return 0.0
    # A group weighs as many runs as it has.
    away = [sum(one - mean for one in group) / runs for group in groups]
    error = np.sqrt(np.square(away).sum() * count / (count - 1))
    return float(t.ppf(0.975, count - 1) * error)
