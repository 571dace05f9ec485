"""The control: scores that say nothing, to see what of a result is the vote's."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from brido.errors import ArgumentError


def dealt_scores(scores: NDArray[np.floating], names: Sequence[str]) -> NDArray[np.float64]:
    """Each document's scores dealt out anew among its own candidates, float64 [D, N].

    scores [D, N]; whoever has none (NaN: not to be elected) gets none. names [D]: of the documents,
    whose hashes decide who gets which score: what a candidate says has no part in it, and a
    document with as many scores has the same deal in every run and batch.

    Raises:
        ArgumentError: not as many names as rows.

    Example:
        >>> dealt_scores(np.array([[0.5, np.nan, 0.2, 0.1]]), ["a story"])
        array([[0.2, nan, 0.1, 0.5]])
    """
    if scores.ndim != 2 or len(names) != len(scores):
        raise ArgumentError(f"scores {list(scores.shape)} are not those of {len(names)} documents")
    dealt = np.array(scores, np.float64)
    for row, name in zip(dealt, names, strict=True):
        there = np.flatnonzero(~np.isnan(row))
        lots = [blake2b(f"{place} {name}".encode()).digest() for place in range(len(there))]
        row[there] = row[there][sorted(range(len(there)), key=lots.__getitem__)]
    return dealt
