"""The check of a vote, arithmetic: pair accuracy at equal length, shares of documents compared.

Arrays only. D documents have N candidates each; `unsupported` says how much of each candidate its
source does not support (a count or a share: more is worse), `lengths` how long it is (in words).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brido.stats import FEWEST, bootstrap_interval, means, percentiles, resampled_ratios
from brido.utils.arguments import as_numbers
from brido.utils.errors import ArgumentError


@dataclass(frozen=True)
class Share:
    """A share (or a difference of shares) over documents or pairs, with its bootstrap interval."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class CandidatePairs:
    """Pairs of candidates of one document, one better than the other: indices, each int [P]."""

    documents: NDArray[np.int64]
    better: NDArray[np.int64]
    worse: NDArray[np.int64]


def comparable_pairs(
    unsupported: ArrayLike, lengths: ArrayLike, tolerance: float = 0.15
) -> CandidatePairs:
    """All pairs of a document that differ in `unsupported` and are about equally long.

    The lengths differ by at most `tolerance` of the longer one; at 1 all pairs count. Both arrays
    [D, N]; a candidate whose `unsupported` is NaN is in no pair.

    Raises:
        ArgumentError: the shapes are not the same [D, N], or the tolerance is not a share.
    """
    if not 0 <= tolerance <= 1:
        raise ArgumentError(f"tolerance must be a share from 0 to 1, not {tolerance}")
    wrong, length = _alike(unsupported=unsupported, lengths=lengths)
    first, second = length[:, :, None], length[:, None, :]
    # Not the product alone: .15 * 20 is a hair below 3.
    close = abs(first - second) <= tolerance * np.maximum(first, second) + 1e-9
    return CandidatePairs(*np.nonzero(close & (wrong[:, :, None] < wrong[:, None, :])))


def pair_accuracy(
    scores: ArrayLike, unsupported: ArrayLike, lengths: ArrayLike, tolerance: float = 0.15
) -> tuple[float, int]:
    """(accuracy, pairs): how often a score puts the better of two equally long candidates first.

    All [D, N], a higher score is better. The pairs are `comparable_pairs`; equal scores are half
    right; a random score has .5. A pair with a NaN score does not count. NaN if there is no pair.

    Raises:
        ArgumentError: see `comparable_pairs`; the scores have another shape.

    Example:
        >>> pair_accuracy([[0.9, 0.1, 0.5]], [[0, 1, 1]], [[10, 10, 30]])
        (1.0, 1)
    """
    values, wrong, length = _alike(scores=scores, unsupported=unsupported, lengths=lengths)
    counts = pair_counts(values, comparable_pairs(wrong, length, tolerance))
    right, pairs = counts.sum(0)
    return (float(right / pairs) if pairs else float("nan")), int(pairs)


def _alike(**arrays: ArrayLike) -> list[NDArray[np.float64]]:
    """Arrays of one shape [D, N]; ArgumentError for others."""
    found = [as_numbers(name, own, "[D, N]").astype(np.float64) for name, own in arrays.items()]
    if found[0].ndim != 2 or len({own.shape for own in found}) > 1:
        raise ArgumentError(
            f"{' and '.join(arrays)} must have one shape [documents, candidates], not "
            f"{' and '.join(str(list(own.shape)) for own in found)}"
        )
    return found


def pair_counts(scores: ArrayLike, pairs: CandidatePairs) -> NDArray[np.float64]:
    """Of each document: pairs in the right order (ties half), and all pairs; [D, 2]."""
    values = np.asarray(scores, np.float64)
    first, second = (values[pairs.documents, place] for place in (pairs.better, pairs.worse))
    known = ~(np.isnan(first) | np.isnan(second))
    first, second = first[known], second[known]
    right = np.where(first == second, 0.5, first > second)
    return np.stack(
        [
            np.bincount(pairs.documents[known], weight, len(values))
            for weight in (right, np.ones_like(right))
        ],
        axis=1,
    )


def accuracies(
    counts: NDArray[np.float64], samples: int, confidence: float, seed: int
) -> list[Share]:
    """The accuracy of K scores with bootstrap intervals over documents.

    counts [K, D, 2] by `pair_counts`. Documents without a pair say nothing: where fewer than FEWEST
    have some, the ends of the interval are NaN.
    """
    right, pairs = counts[:, :, 0].T, counts[:, :, 1].T
    low, high = percentiles(resampled_ratios(right, pairs, samples, seed), confidence)
    few = (pairs > 0).sum(0) < FEWEST
    low, high = np.where(few, np.nan, [low, high])
    total = pairs.sum(0)
    mean = np.divide(right.sum(0), total, out=np.full(len(total), np.nan), where=total > 0)
    rows = zip(mean.tolist(), low.tolist(), high.tolist(), map(int, total), strict=True)
    return [Share(*row) for row in rows]


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
