"""The check of a vote: how often it puts the better of two equally long candidates first."""

import numpy as np
from numpy.typing import ArrayLike

from brido.utils.arguments import as_numbers
from brido.utils.errors import ArgumentError


def pair_accuracy(
    scores: ArrayLike, unsupported: ArrayLike, lengths: ArrayLike, tolerance: float = 0.15
) -> tuple[float, int]:
    """(accuracy, pairs): how often a score puts the better of two equally long candidates first.

    All [D, N]: D documents of N candidates. scores: higher is better. unsupported: how much of a
    candidate its source does not support, a count or a share. lengths: in words or tokens.

    A pair is two candidates of one document that differ in `unsupported`, and in length by at most
    `tolerance` of the longer one. Equal scores are half right, so a random score has .5. A
    candidate whose score or count is NaN is in no pair. The accuracy is NaN if there is no pair.

    Raises:
        ArgumentError: the arrays are not numbers of one shape [D, N], or the tolerance is not a
            share from 0 to 1.

    Example:
        >>> pair_accuracy([[0.9, 0.1, 0.5]], [[0, 1, 1]], [[10, 10, 30]])
        (1.0, 1)
    """
    named = {"scores": scores, "unsupported": unsupported, "lengths": lengths}
    values, wrong, length = (
        as_numbers(name, given, "[D, N]").astype(np.float64) for name, given in named.items()
    )
    if values.ndim != 2 or not values.shape == wrong.shape == length.shape:
        raise ArgumentError(
            "scores, unsupported and lengths must have one shape [documents, candidates], not "
            f"{list(values.shape)}, {list(wrong.shape)} and {list(length.shape)}"
        )
    if not 0 <= tolerance <= 1:
        raise ArgumentError(f"tolerance must be a share from 0 to 1, not {tolerance}")
    first, second = length[:, :, None], length[:, None, :]
    # Not the product alone: .29 * 100 is a hair below 29.
    close = abs(first - second) <= tolerance * np.maximum(first, second) + 1e-9
    document, better, worse = np.nonzero(close & (wrong[:, :, None] < wrong[:, None, :]))
    above, below = values[document, better], values[document, worse]
    known = ~(np.isnan(above) | np.isnan(below))
    above, below = above[known], below[known]
    right = (above > below).sum() + (above == below).sum() / 2
    return (float(right / len(above)) if len(above) else float("nan")), len(above)
