"""Hits and lengths to ROUGE values, with rouge_score's operations in rouge_score's order."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def value_of(hits: NDArray, predicted: NDArray, wanted: NDArray, value: str) -> Numbers:
    """Values [..., P, T] of hits [..., P, T].

    predicted [..., P], wanted [..., T]: how many n-grams predictions and targets have. `value` is
    fmeasure, precision or recall. 0 where a text has none.
    """
    precision = hits / np.maximum(predicted, 1)[..., :, None]
    recall = hits / np.maximum(wanted, 1)[..., None, :]
    if value == "fmeasure":
        return harmonic(precision, recall)
    return precision if value == "precision" else recall


def harmonic(first: Numbers, second: Numbers) -> Numbers:
    """The harmonic mean, 0 where both are 0."""
    total = first + second
    return np.divide(2 * first * second, total, out=np.zeros_like(total), where=total > 0)


def combined(found: list[Numbers]) -> Numbers:
    """R of pairs: the harmonic mean of two measures, or the mean of three."""
    return harmonic(*found) if len(found) == 2 else (found[0] + found[1] + found[2]) / 3
