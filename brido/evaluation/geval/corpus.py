"""What a corpus of marks says: means with intervals, and differences between systems."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from brido.evaluation.geval import METRIC
from brido.stats import bootstrap_interval, means

Rows = Sequence[Mapping[str, float | None]]

_RESAMPLES, _CONFIDENCE, _SEED = 1000, 0.95, 0


def summary_lines(systems: Mapping[str, Rows]) -> list[str]:
    """A table of means with 95 % bootstrap intervals over documents, a line per system and mark.

    `systems` maps a system's name to its rows; a missing mark counts in no mean, and `n` says how
    many documents have one.
    """
    lines = [f"{'system':<16} {'':<20} {'mean':>7} {'95 % interval':>18} {'n':>7}"]
    for system, rows in systems.items():
        lines += _lines(system, _array(rows))
    return lines


def difference_lines(systems: Mapping[str, tuple[Sequence[str], Rows]]) -> list[str]:
    """Paired differences of every system to the first, over documents that both have marks for.

    `systems` maps a system's name to its document ids and rows. Bootstrap intervals draw
    documents, so each difference is between two summaries of the same document.
    """
    (first, (ids, rows)), *others = systems.items()
    base = dict(zip(ids, _array(rows), strict=True))
    lines = []
    for system, (other_ids, other_rows) in others:
        values = zip(other_ids, _array(other_rows), strict=True)
        differences = [row - base[name] for name, row in values if name in base]
        if differences:
            lines += _lines(f"{system} - {first}", np.array(differences))
    return lines


def _array(rows: Rows) -> NDArray[np.float64]:
    values = [[row[column] for column in METRIC.names] for row in rows]
    return np.array(values, dtype=np.float64).reshape(len(rows), len(METRIC.names))


def _lines(system: str, values: NDArray[np.float64]) -> list[str]:
    low, high = bootstrap_interval(values, _RESAMPLES, _CONFIDENCE, _SEED)
    mean, count = means(values), (~np.isnan(values)).sum(axis=0)
    return [
        f"{system:<16} {column:<20} {mean[index]:>7.3f} "
        f"{f'[{low[index]:.3f}, {high[index]:.3f}]':>18} {count[index]:>7,}"
        for index, column in enumerate(METRIC.names)
        if count[index]
    ]
