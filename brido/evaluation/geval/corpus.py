"""What a corpus of marks says: means with intervals, and differences between systems."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.evaluation.geval import METRIC
from brido.stats import bootstrap_interval, means

_RESAMPLES, _CONFIDENCE, _SEED = 1000, 0.95, 0


def summary_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A table of means with 95 % bootstrap intervals over documents, a line per system and mark.

    `rows` have id, system and marks. A missing mark counts in no mean, and `n` says how many
    documents have one. Where there are several systems, paired differences of each to the first
    follow, over the documents that both have marks for.
    """
    systems: dict[str, dict[str, NDArray[np.float64]]] = {}
    for row in rows:
        marks = np.array([row[column] for column in METRIC.names], dtype=np.float64)
        systems.setdefault(row["system"], {})[row["id"]] = marks
    yield f"{'system':<16} {'':<20} {'mean':>7} {'95 % interval':>18} {'n':>7}"
    for system, by_id in systems.items():
        yield from _lines(system, list(by_id.values()))
    (first, base), *others = systems.items()
    if others:
        yield "\nPaired differences:"
    for system, by_id in others:
        differences = [marks - base[name] for name, marks in by_id.items() if name in base]
        yield from _lines(f"{system} - {first}", differences)


def _lines(system: str, marks: list[NDArray[np.float64]]) -> Iterator[str]:
    if not marks:
        return
    values = np.array(marks)
    low, high = bootstrap_interval(values, _RESAMPLES, _CONFIDENCE, _SEED)
    mean, count = means(values), (~np.isnan(values)).sum(axis=0)
    for index, column in enumerate(METRIC.names):
        if count[index]:
            interval = f"[{low[index]:.3f}, {high[index]:.3f}]"
            yield (
                f"{system:<16} {column:<20} {mean[index]:>7.3f} {interval:>18} {count[index]:>7,}"
            )
