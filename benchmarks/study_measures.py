"""What the study measures of a system's summaries, and intervals over seeds and documents."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from brido.evaluation import Inputs
from brido.evaluation.mentions import world_mentions
from brido.evaluation.registry import find_metric

Numbers = dict[str, np.ndarray]
# Column of the study: metric and submetric it comes from.
COLUMNS = {
    "unsupported": ("mentions", "unsupported"),
    "consistency": ("world_judge", "consistency"),
    "fluency": ("world_judge", "fluency"),
    "relevance": ("world_judge", "relevance"),
    "words": ("extractiveness", "length"),
    "R-1": ("rouge", "r1"),
    "R-2": ("rouge", "r2"),
}
SAMPLES = 2000


def measure(
    rows: Sequence[dict[str, Any]],
    summaries: Sequence[str],
    columns: Sequence[str] = tuple(COLUMNS),
) -> Numbers:
    """The columns asked for, a number a document each."""
    sources = {column: COLUMNS[column] for column in columns}
    inputs = Inputs(
        ids=[row["id"] for row in rows],
        documents=[row["document"] for row in rows],
        summaries=summaries,
        references=[row["references"] for row in rows],
        facts=[row["facts"] for row in rows],
    )
    found = {
        metric: find_metric(metric).measure(inputs).rows
        for metric in {metric for metric, _ in sources.values()}
    }
    return {
        column: np.array([row[submetric] for row in found[metric]], dtype=float)
        for column, (metric, submetric) in sources.items()
    }


def interval(
    values: Sequence[np.ndarray], others: Sequence[np.ndarray] | None = None, seed: int = 0
) -> tuple[float, float, float]:
    """Mean and 95 % interval of the values (or of values minus others, paired by document).

    values[s] are the documents of seed s. Seeds are drawn with replacement and then the documents
    of each drawn seed, so the interval covers another world and another training run as well.
    """
    pairs = [
        value if others is None else value - other
        for value, other in zip(values, others or values, strict=True)
    ]
    rng = np.random.default_rng(seed)
    means = []
    for _ in range(SAMPLES):
        chosen = rng.integers(len(pairs), size=len(pairs))
        drawn = [
            pairs[index][rng.integers(len(pairs[index]), size=len(pairs[index]))]
            for index in chosen
        ]
        means.append(np.mean([sample.mean() for sample in drawn]))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(np.mean([pair.mean() for pair in pairs])), float(low), float(high)


def matched_penalty(lengths: dict[float, float], target: float) -> float | None:
    """The length penalty at which a system would write `target` words, by interpolation.

    lengths: mean words at each penalty of the sweep. None where the sweep does not reach it.
    """
    penalties = sorted(lengths)
    for low, high in pairwise(penalties):
        first, second = lengths[low], lengths[high]
        if first <= target <= second and first < second:
            return round(low + (high - low) * (target - first) / (second - first), 3)
    return None


def votes(
    rows: Sequence[dict[str, Any]],
    candidates: Sequence[Sequence[str]],
    elected: dict[str, Callable[[int], int]],
    edges: Sequence[float] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
) -> list[dict[str, float]]:
    """How often the elected candidate says something unsupported, by how many candidates do.

    elected: for each ranking, the index of its best candidate of document i. One row per bin of
    the share of candidates with an unsupported mention (bins closed above, the first also below).
    """
    wrong = [
        [not all(found[2] for found in world_mentions(text, row["facts"])) for text in texts]
        for row, texts in zip(rows, candidates, strict=True)
    ]
    share = np.array([np.mean(each) for each in wrong])
    table = []
    for low, high in pairwise(edges):
        inside = (share > low) & (share <= high) | ((share == 0) & (low == 0))
        picked = {
            name: float(np.mean([wrong[i][best(i)] for i in np.flatnonzero(inside)]))
            for name, best in elected.items()
            if inside.any()
        }
        if picked:
            count = float(inside.sum())
            table.append({"documents": count, "pool": float(share[inside].mean()), **picked})
    return table
