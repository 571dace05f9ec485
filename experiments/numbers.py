"""Shares, differences and their intervals, as numbers and as the text of a table."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.rows import has, marks, measured

SAMPLES = 2000
Values = Sequence[NDArray[np.float64]]


def paired(first: pd.DataFrame, second: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of two systems of one setting, of the seeds that have documents of both."""
    first, second = measured(first), measured(second)
    seeds = set(first.seed) & set(second.seed)
    return first[first.seed.isin(seeds)], second[second.seed.isin(seeds)]


def gaps(first: pd.DataFrame, second: pd.DataFrame, mark: str = "unsupported") -> Values:
    """First minus second for each document, seed by seed."""
    pairs = zip(*(marks(rows, mark) for rows in paired(first, second)), strict=True)
    return [after - before for after, before in pairs]


def difference(first: pd.DataFrame, second: pd.DataFrame, mark: str = "unsupported") -> str:
    """First minus second in points, paired by document, over the seeds that have both.

    Empty if one of them was not measured.
    """
    if first.empty or second.empty:
        return ""
    found = gaps(first, second, mark)
    # A row without documents: the length is out of reach. A seed without a row was not run.
    all_rows = pd.concat([first, second])
    missing = all_rows[all_rows.unsupported == ""].seed.nunique()
    parts = [points(found)] if found else []
    return ", ".join([*parts, *([f"out of reach for {missing}"] if missing else [])])


def share(rows: pd.DataFrame, mark: str = "unsupported") -> str:
    """The mean share of documents with a mark, with its interval."""
    mean, low, high = (100 * value for value in interval(marks(rows, mark)))
    return f"{mean:.1f} % [{low:.1f}, {high:.1f}]"


def percent(rows: pd.DataFrame, mark: str = "unsupported") -> str:
    """The same share without an interval, empty if the mark was not measured."""
    return (
        ""
        if not has(rows, mark)
        else f"{100 * np.mean([one.mean() for one in marks(rows, mark)]):.1f} %"
    )


def points(values: Values) -> str:
    """Mean and interval of differences, in points; values[s] are the documents of seed s."""
    mean, low, high = (100 * value for value in interval(values))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def interval(values: Values, seed: int = 0) -> tuple[float, float, float]:
    """Mean and 95 % bootstrap interval of the mean; values[s] are the documents of seed s.

    Seeds are drawn with replacement and then the documents of each drawn seed, so the interval
    covers another world and another training run as well.
    """
    return _interval(tuple(np.asarray(one, float).tobytes() for one in values), seed)


@cache
def _interval(values: tuple[bytes, ...], seed: int) -> tuple[float, float, float]:
    arrays = [np.frombuffer(one) for one in values]
    rng = np.random.default_rng(seed)
    means = []
    for _ in range(SAMPLES):
        drawn = [arrays[index] for index in rng.integers(len(arrays), size=len(arrays))]
        sums = [np.add.reduce(one[rng.integers(len(one), size=len(one))]) for one in drawn]
        means.append(np.mean([total / len(one) for total, one in zip(sums, drawn, strict=True)]))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(np.mean([one.mean() for one in arrays])), float(low), float(high)


def rouge(rows: pd.DataFrame) -> str:
    """ROUGE-1 and ROUGE-2, means over seeds."""
    return f"{rows.r1.mean():.1f}/{rows.r2.mean():.1f}"
