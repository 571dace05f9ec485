"""How much a document's candidates differ: near-duplicates are kept, but counted."""

from __future__ import annotations

import numpy as np


def distinct_candidates(candidates: list[str]) -> int:
    """The number of different texts among the candidates of one document."""
    return len(set(candidates))


def mean_pairwise_similarity(candidates: list[str]) -> float:
    """The mean over pairs of candidates of their word overlap, 1.0 where all are equal.

    The overlap of a pair is the F-measure of lower-cased, space-separated words counted with
    multiplicity: 2 * common / (words of one + words of the other); two empty texts count as equal.
    """
    texts = [candidate.lower().split() for candidate in candidates]
    count = len(texts)
    if count < 2:
        return 1.0
    numbers = {word: place for place, word in enumerate(sorted({w for t in texts for w in t}))}
    counts = np.zeros((count, max(len(numbers), 1)), dtype=np.int64)
    for row, words in enumerate(texts):
        np.add.at(counts[row], [numbers[word] for word in words], 1)
    # Sum over levels of "both have at least that many" is the sum of minima.
    common = np.zeros((count, count))
    for level in range(1, int(counts.max(initial=0)) + 1):
        reached = (counts >= level).astype(np.float64)
        common += reached @ reached.T
    sizes = counts.sum(1)
    total = sizes[:, None] + sizes[None, :]
    overlap = np.where(total > 0, 2 * common / np.maximum(total, 1), 1.0)
    return float((overlap.sum() - overlap.trace()) / (count * (count - 1)))
