"""The check of a vote, arithmetic: pair accuracy at equal length, elected against own output.

Arrays only. D documents have N candidates each; `unsupported` says how much of each candidate its
source does not support (a count or a share: more is worse), `lengths` how long it is (in words).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brido.stats import bootstrap_interval, means, percentiles, resampled_ratios
from brido.utils.errors import BridoError

QUARTERS = 4


@dataclass(frozen=True)
class Share:
    """A share (or a difference of shares) over documents or pairs, with its bootstrap interval."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Pairs:
    """Pairs of candidates of one document, one better than the other: indices, each int [P]."""

    documents: NDArray[np.int64]
    better: NDArray[np.int64]
    worse: NDArray[np.int64]


def comparable_pairs(unsupported: ArrayLike, lengths: ArrayLike, tolerance: float = 0.15) -> Pairs:
    """All pairs of a document that differ in `unsupported` and are about equally long.

    The lengths differ by at most `tolerance` of the longer one; at 1 all pairs count. Both arrays
    [D, N]; a candidate whose `unsupported` is NaN is in no pair.

    Raises:
        BridoError: the shapes are not the same [D, N], or the tolerance is not a share.
    """
    wrong, length = _checked(tolerance, unsupported=unsupported, lengths=lengths)
    longer = np.maximum(length[:, :, None], length[:, None, :])
    # Not the product alone: .15 * 20 is a hair below 3.
    close = abs(length[:, :, None] - length[:, None, :]) <= tolerance * longer + 1e-9
    return Pairs(*np.nonzero(close & (wrong[:, :, None] < wrong[:, None, :])))


def pair_accuracy(
    scores: ArrayLike, unsupported: ArrayLike, lengths: ArrayLike, tolerance: float = 0.15
) -> tuple[float, int]:
    """(accuracy, pairs): how often a score puts the better of two equally long candidates first.

    All [D, N], a higher score is better. The pairs are `comparable_pairs`; equal scores are half
    right; a random score has .5. A pair with a NaN score does not count. NaN if there is no pair.

    Raises:
        BridoError: see `comparable_pairs`.

    Example:
        >>> pair_accuracy([[0.9, 0.1, 0.5]], [[0, 1, 1]], [[10, 10, 30]])
        (1.0, 1)
    """
    counts = pair_counts(scores, comparable_pairs(unsupported, lengths, tolerance))
    right, pairs = counts.sum(0)
    return (float(right / pairs) if pairs else float("nan")), int(pairs)


def pair_counts(scores: ArrayLike, pairs: Pairs) -> NDArray[np.float64]:
    """Of each document: pairs in the right order (ties half), and all pairs; [D, 2]."""
    values = np.asarray(scores, np.float64)
    gaps, known = _gaps(values, pairs)
    right = np.where(gaps == 0, 0.5, gaps > 0)
    return np.stack(
        [
            np.bincount(pairs.documents[known], weight, len(values))
            for weight in (right, np.ones_like(right))
        ],
        axis=1,
    )


def accuracy_by_gap(scores: ArrayLike, pairs: Pairs) -> list[tuple[float, int]]:
    """(accuracy, pairs) of each quarter of the pairs by the gap of their scores, smallest first.

    Equal gaps stay together, in the quarter above, so quarters may be of unequal size or empty.
    """
    gaps, _ = _gaps(np.asarray(scores, np.float64), pairs)
    if not len(gaps):
        return [(float("nan"), 0)] * QUARTERS
    ends = np.quantile(abs(gaps), np.arange(1, QUARTERS) / QUARTERS, method="higher")
    quarter = np.searchsorted(ends, abs(gaps), side="right")
    right = np.where(gaps == 0, 0.5, gaps > 0)
    result = []
    for number in range(QUARTERS):
        inside = right[quarter == number]
        result.append((float(inside.mean()) if len(inside) else float("nan"), len(inside)))
    return result


def accuracies(
    counts: NDArray[np.float64], samples: int, confidence: float, seed: int
) -> tuple[list[Share], NDArray[np.float64]]:
    """The accuracy of K scores with intervals over documents, and its draws [samples, K].

    counts [K, D, 2] by `pair_counts`. The draws are paired: those of two scores may be subtracted.
    """
    right, pairs = counts[:, :, 0].T, counts[:, :, 1].T
    draws = resampled_ratios(right, pairs, samples, seed)
    low, high = percentiles(draws, confidence)
    total = pairs.sum(0)
    mean = np.divide(right.sum(0), total, out=np.full(len(total), np.nan), where=total > 0)
    rows = zip(mean.tolist(), low.tolist(), high.tolist(), map(int, total), strict=True)
    return [Share(*row) for row in rows], draws


@dataclass(frozen=True)
class Election:
    """Shares of documents with something unsupported: elected, own, and elected minus own.

    lengths: the mean of each. `equal_length` is the same over the documents whose two texts are
    about equally long.
    """

    elected: Share
    own: Share
    difference: Share
    lengths: tuple[float, float]
    equal_length: "Election | None" = None


def election(
    elected: tuple[ArrayLike, ArrayLike],
    own: tuple[ArrayLike, ArrayLike],
    tolerance: float,
    samples: int,
    confidence: float,
    seed: int,
) -> Election:
    """Compare the elected candidates with the model's own output, document by document.

    elected, own: (unsupported [D], lengths [D]). Intervals are those of the paired bootstrap over
    documents. docs/method.md says how often this check predicted whether tuning helps.

    Raises:
        BridoError: the shapes differ, or the tolerance is not a share.
    """
    wrong, own_wrong, length, own_length = _checked(
        tolerance, elected=elected[0], own=own[0], lengths=elected[1], own_lengths=own[1], ndim=1
    )
    close = abs(length - own_length) <= tolerance * np.maximum(length, own_length) + 1e-9
    bad, own_bad = (wrong > 0).astype(float), (own_wrong > 0).astype(float)
    how = samples, confidence, seed
    every = compared_shares(bad, own_bad, *how)
    first, second = (np.where(close, one, np.nan) for one in (bad, own_bad))
    near = compared_shares(first, second, *how)

    def lengths(chosen: NDArray[np.bool_]) -> tuple[float, float]:
        elected_length, base_length = means(np.stack([length, own_length], axis=1)[chosen])
        return float(elected_length), float(base_length)

    equal = Election(*near, lengths(close))
    return Election(*every, lengths(np.ones(len(close), bool)), equal)


def compared_shares(
    first: ArrayLike, second: ArrayLike, samples: int, confidence: float, seed: int
) -> tuple[Share, Share, Share]:
    """Two shares over the same documents [D], and first minus second; NaN is not counted.

    Intervals are those of the paired bootstrap over documents.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    values = np.stack([one, other, one - other], axis=1)
    ends = zip(means(values), *bootstrap_interval(values, samples, confidence, seed), strict=True)
    count = int((~np.isnan(one)).sum())
    both, own, gap = (Share(float(a), float(b), float(c), count) for a, b, c in ends)
    return both, own, gap


def _gaps(
    scores: NDArray[np.float64], pairs: Pairs
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Score of the better minus score of the worse where both are numbers, and which pairs [P]."""
    first, second = (scores[pairs.documents, place] for place in (pairs.better, pairs.worse))
    known = ~(np.isnan(first) | np.isnan(second))
    # Two infinities of one sign are equal.
    first, second = first[known], second[known]
    return np.subtract(first, second, out=np.zeros_like(first), where=first != second), known


def _checked(tolerance: float, ndim: int = 2, **arrays: ArrayLike) -> list[NDArray[np.float64]]:
    if not 0 <= tolerance <= 1:
        raise BridoError(f"tolerance must be a share from 0 to 1, not {tolerance}")
    values = {name: np.asarray(array, np.float64) for name, array in arrays.items()}
    shapes = {name: list(array.shape) for name, array in values.items()}
    if len({tuple(shape) for shape in shapes.values()}) > 1 or any(
        array.ndim != ndim for array in values.values()
    ):
        wanted = "[documents, candidates]" if ndim == 2 else "[documents]"
        raise BridoError(f"all arrays must have one shape {wanted}, not {shapes}")
    return list(values.values())
