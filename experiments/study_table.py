"""The study's arithmetic and its table: intervals over seeds and documents, equal lengths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

SAMPLES = 2000


@dataclass(frozen=True)
class Measured:
    """The test summaries of a system of one seed: a number a document each.

    unsupported: 1 where something is said that the document does not support; words: the length.
    """

    unsupported: NDArray[np.float64]
    words: NDArray[np.float64]


def study_table(
    usual: Mapping[str, Sequence[Measured]], matched: Mapping[str, Sequence[Measured | None]]
) -> str:
    """A Markdown table, a row a system, over the seeds: as usual, and at base's length.

    `matched` has None for each seed in which a system does not reach base's length; a system that
    it does not name gets an empty cell.
    """
    seeds = len(next(iter(usual.values())))
    documents = sum(len(one.words) for one in next(iter(usual.values())))
    lines = [
        f"| {seeds} seeds, {documents:,} test documents | unsupported mentions | words "
        "| at base's length |",
        "|---|---|---|---|",
    ]
    for name, found in usual.items():
        words = np.mean([one.words.mean() for one in found])
        at_length = _at_length(matched[name]) if name in matched else ""
        lines.append(f"| {name} | {_share(found)} | {words:.1f} | {at_length} |")
    return "\n".join(lines)


def _at_length(found: Sequence[Measured | None]) -> str:
    there = [one for one in found if one is not None]
    missing = len(found) - len(there)
    return f"out of reach for {missing} of {len(found)} seeds" if missing else _share(there)


def _share(found: Sequence[Measured]) -> str:
    mean, low, high = (100 * value for value in interval([one.unsupported for one in found]))
    return f"{mean:.1f} % [{low:.1f}, {high:.1f}]"


def interval(values: Sequence[NDArray[np.float64]], seed: int = 0) -> tuple[float, float, float]:
    """Mean and 95 % bootstrap interval of the mean; values[s] are the documents of seed s.

    Seeds are drawn with replacement and then the documents of each drawn seed, so the interval
    covers another world and another training run as well.
    """
    rng = np.random.default_rng(seed)
    means = []
    for _ in range(SAMPLES):
        chosen = [values[index] for index in rng.integers(len(values), size=len(values))]
        drawn = [one[rng.integers(len(one), size=len(one))] for one in chosen]
        means.append(np.mean([sample.mean() for sample in drawn]))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(np.mean([one.mean() for one in values])), float(low), float(high)


def matched_penalty(lengths: Mapping[float, float], target: float) -> float | None:
    """The length penalty at which a system would write `target` words, by interpolation.

    lengths: mean words at each penalty that was tried. None where they do not enclose it.
    """
    for low, high in pairwise(sorted(lengths)):
        first, second = lengths[low], lengths[high]
        if first <= target <= second and first < second:
            return round(low + (high - low) * (target - first) / (second - first), 3)
    return None
