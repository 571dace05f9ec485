"""Shares, differences and intervals of measured rows, as numbers and as a table's text."""

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from experiments.rows import Row

SAMPLES = 2000
Values = Sequence[NDArray[np.float64]]


def chosen(rows: Iterable[Row], system: str, decoding: str = "", split: str = "test") -> list[Row]:
    """The rows of a system, seed by seed."""
    wanted = (system, decoding, split)
    found = [row for row in rows if (row.system, row.decoding, row.split) == wanted]
    return sorted(found, key=lambda row: row.seed)


def difference(first: Sequence[Row], second: Sequence[Row]) -> str:
    """First minus second in points of unsupported summaries, paired by document.

    Over the seeds that have both; empty if one of them was not measured.
    """
    if not (first and second):
        return ""
    found = pairs(first, second)
    # A row without documents: the length is out of reach. A seed without a row was not run.
    missing = len({row.seed for row in (*first, *second) if not row.unsupported})
    told = [points(gaps(found))] if found else []
    return ", ".join([*told, *([f"out of reach for {missing}"] if missing else [])])


def pairs(first: Sequence[Row], second: Sequence[Row]) -> list[tuple[Row, Row]]:
    """The rows of two systems of the seeds that have both."""
    others = {row.seed: row for row in second if row.unsupported}
    return [(row, others[row.seed]) for row in first if row.unsupported and row.seed in others]


def gaps(found: Sequence[tuple[Row, Row]], mark: str = "flags") -> Values:
    """First minus second of a mark of the rows, seed by seed."""
    return [getattr(first, mark) - getattr(second, mark) for first, second in found]


def share(found: Sequence[Row], mark: str = "flags") -> str:
    """Mean share of summaries with a mark of their rows (`flags`: something unsupported)."""
    if not found:
        return ""
    mean, low, high = (100 * value for value in interval([getattr(row, mark) for row in found]))
    return f"{mean:.1f} % [{low:.1f}, {high:.1f}]"


def percent(found: Sequence[Row], mark: str = "flags") -> str:
    """The same without an interval."""
    return f"{100 * np.mean([getattr(row, mark).mean() for row in found]):.1f} %"


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


def words(found: Sequence[Row]) -> float:
    """Mean words of a summary."""
    return float(np.mean([row.words for row in found]))


def rouge(found: Sequence[Row]) -> str:
    """ROUGE-1 and ROUGE-2, means over seeds."""
    return "/".join(f"{np.mean([getattr(row, key) for row in found]):.1f}" for key in ("r1", "r2"))


def formed(found: Sequence[Row]) -> str:
    """The share of sentences of the world's grammar, empty if that was not measured."""
    if not all(row.fluency for row in found):
        return ""
    return f"{100 * np.mean([row.well_formed.mean() for row in found]):.0f} %"


def per_100_words(rows: Sequence[Row]) -> float:
    """Unsupported mentions in 100 words, over all documents."""
    found = sum(row.counts.sum() for row in rows)
    return float(100 * found / sum(row.words * len(row.counts) for row in rows))
