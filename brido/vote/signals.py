"""What a score may contain beside Eq. 2: the support of a checker, and the shuffled control."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from brido.utils.arguments import as_numbers
from brido.utils.errors import ArgumentError


def supported_scores(
    scores: NDArray[np.floating], support: NDArray[np.floating], weight: float
) -> NDArray[np.float64]:
    """(1 - weight) z(scores) + weight z(support), z within each document; [..., N].

    z(x) = (x - mean) / standard deviation (over N) of a document's candidates, 0 if all of them are
    equal. weight 0 returns `scores` unchanged: those of Eq. 2. (ConSUM, 2605.29336: 0.5.) NaN
    scores stay NaN and count in no mean.

    Raises:
        ArgumentError: the weight is not from 0 to 1, or the shapes differ.

    Example:
        >>> supported_scores(np.array([0.5, 0.5, 0.2]), np.array([1.0, 0.0, 1.0]), 0.5).round(3)
        array([ 0.707, -0.354, -0.354])
    """
    scores = as_numbers("scores", scores, "[..., N]")
    support = as_numbers("support", support, "[..., N]")
    if not 0 <= weight <= 1:
        raise ArgumentError(f"weight must be from 0 to 1, not {weight}")
    if scores.shape != support.shape:
        raise ArgumentError(f"scores {list(scores.shape)} and support {list(support.shape)} differ")
    if weight == 0:
        return np.asarray(scores, np.float64)
    known = ~np.isnan(scores)
    return (1 - weight) * _standardised(scores, known) + weight * _standardised(support, known)


def _standardised(values: NDArray[np.floating], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    numbers = np.where(known, values, 0.0).astype(np.float64)
    count = np.maximum(known.sum(-1, keepdims=True), 1)
    centred = np.where(known, numbers - numbers.sum(-1, keepdims=True) / count, 0.0)
    deviation = np.sqrt((centred**2).sum(-1, keepdims=True) / count)
    low = np.where(known, values, np.inf).min(-1, keepdims=True)
    high = np.where(known, values, -np.inf).max(-1, keepdims=True)
    # Rounding gives equal values a deviation.
    varies = high > low
    found = np.divide(centred, deviation, out=np.zeros_like(centred), where=varies)
    return np.where(known, found, np.nan)


def shuffled_scores(scores: NDArray[np.floating], names: Sequence[str]) -> NDArray[np.float64]:
    """Shuffle the scores of each document among its candidates, float64 [D, N]: the control.

    scores [D, N]; a candidate without a score (NaN: it cannot be elected) gets none. names [D]: the
    documents' names, whose hashes decide the order. The texts of the candidates have no part in it,
    and a document with as many scores is shuffled alike in every run and batch.

    Raises:
        ArgumentError: there are not as many names as rows.

    Example:
        >>> shuffled_scores(np.array([[0.5, np.nan, 0.2, 0.1]]), ["a story"])
        array([[0.2, nan, 0.1, 0.5]])
    """
    scores = as_numbers("scores", scores, "[D, N]")
    if scores.ndim != 2 or len(names) != len(scores):
        raise ArgumentError(f"scores {list(scores.shape)} are not those of {len(names)} documents")
    shuffled = np.array(scores, np.float64)
    for row, name in zip(shuffled, names, strict=True):
        known = np.flatnonzero(~np.isnan(row))
        keys = [blake2b(f"{place} {name}".encode()).digest() for place in range(len(known))]
        row[known] = row[known][sorted(range(len(known)), key=keys.__getitem__)]
    return shuffled
