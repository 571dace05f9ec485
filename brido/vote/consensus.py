"""Eq. 2: from the similarity of all pairs to a score for every candidate and their order."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from brido.utils.arguments import as_alpha, as_numbers, check_choices, listing_alphas
from brido.utils.errors import ArgumentError

Normalization = Literal["equation", "listing"]


def consensus_scores(
    similarity: NDArray[np.floating], alpha: float, normalization: Normalization = "equation"
) -> NDArray[np.float64]:
    """Score(S_i) for every candidate, float64 [..., N] (Eq. 2).

    Score(S_i) = (sum over j != i of R(S_i, S_j) + alpha * R(S_i, S*)) / (N - 1 + alpha)

    similarity [..., N, N + 1], lists and tensors too: R of candidate (row) with candidate (column)
    and, in the last column, with the reference, NaN if there is none; the diagonal is ignored.
    alpha 0 asks the candidates only, N - 1 gives the reference half the vote, inf returns the last
    column (BRIO). `listing`: as the paper's code computes it, in float32; at alpha = N - 1 on
    another scale, which a difference margin notices.

    Raises:
        ArgumentError: the shape is not [..., N, N + 1], a similarity of two candidates is NaN or
            infinite, alpha is negative or NaN, N is 1 with alpha 0, or `listing` with an alpha that
            it is not defined for.

    Example:
        >>> R = [[0, 0.8, 0.2, 0.7], [0.8, 0, 0.2, 0.5], [0.2, 0.2, 0, 0.9]]
        >>> consensus_scores(R, alpha=0)
        array([0.5, 0.5, 0.2])
        >>> consensus_scores(R, alpha=math.inf)
        array([0.7, 0.5, 0.9])
    """
    similarity, alpha = _checked(similarity, alpha, normalization)
    if math.isinf(alpha):
        return similarity[..., -1].astype(np.float64)
    if normalization == "listing":
        return _listing_scores(similarity, alpha).astype(np.float64)
    values = _others(similarity.astype(np.float64))
    total = values[..., :-1].sum(-1)
    if alpha > 0:  # at 0 the reference may be missing, and its column NaN
        total = total + alpha * values[..., -1]
    return total / (values.shape[-1] - 1 + alpha)


def _checked(similarity: Any, alpha: Any, normalization: str) -> tuple[NDArray[Any], float]:
    """Similarities and alpha for Eq. 2. Raise ArgumentError as `consensus_scores` says."""
    similarity, alpha = as_numbers("similarity", similarity, "[..., N, N + 1]"), as_alpha(alpha)
    check_choices({"normalization": (normalization, ("equation", "listing"))})
    if similarity.ndim < 2 or similarity.shape[-1] != similarity.shape[-2] + 1:
        raise ArgumentError(
            "similarity must be [..., N, N + 1], the reference's column last, as similarity_matrix "
            f"makes it, not {list(similarity.shape)}"
        )
    size = similarity.shape[-2]
    # The diagonal is ignored, and NaN with the reference says that there is none.
    numbers = np.isfinite(similarity) | np.eye(size, size + 1, dtype=bool)
    numbers[..., -1] |= np.isnan(similarity[..., -1])
    if not numbers.all():
        place = np.argwhere(~numbers.all(-1))[0].tolist()
        raise ArgumentError(f"similarity of candidate {place} contains NaN or infinity")
    if size == 1 and alpha == 0:
        raise ArgumentError("one candidate cannot vote at alpha = 0: give N > 1 or alpha > 0")
    if normalization == "listing" and alpha not in listing_alphas(size):
        raise ArgumentError(
            f"normalization `listing` is defined for alpha 0, 1, N - 1 (here {size - 1}) and inf, "
            f"not {alpha}: use normalization `equation`"
        )
    return similarity, alpha


def _others(similarity: NDArray[np.floating]) -> NDArray[np.floating]:
    """The matrix without its diagonal: [..., N, N], the reference still in the last column."""
    size = similarity.shape[-2]
    keep = ~np.eye(size, size + 1, dtype=bool)
    # Contiguous, so that rows are summed in one order however many documents there are.
    values = np.ascontiguousarray(similarity[..., keep])
    return values.reshape(*similarity.shape[:-1], size)


def _listing_scores(similarity: NDArray[np.floating], alpha: float) -> NDArray[np.float32]:
    values = _others(similarity.astype(np.float32))
    if alpha == 0:
        return np.ascontiguousarray(values[..., :-1]).mean(-1)
    if alpha == 1:
        return values.mean(-1)
    # At alpha = N - 1 the code divides twice: by the weights' sum 2N - 1 (it gives the candidate
    # itself a weight of 1 too), and by N in the mean. Eq. 2 divides by 2N - 2 alone.
    weights = np.ones(values.shape[-1], np.float32)
    weights[-1] = alpha
    return (values * (weights / (weights.sum() + 1))).mean(-1)


def eligible_scores(
    similarity: NDArray[np.floating],
    alpha: float,
    normalization: Normalization,
    voters: NDArray[np.bool_],
    eligible: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """`consensus_scores` among the voters, float64 [D, N]; NaN for candidates not to be elected.

    voters, eligible [D, N]: which candidates vote, and which of these can be elected. A candidate
    that does not vote is as if it were not there: N counts the voters only. With `listing` an alpha
    of N - 1, which gives the reference half the vote, is one less than the voters of each document.

    Raises:
        ArgumentError: voters or eligible are not [D, N], a document has a single voter and alpha is
            0, or see `consensus_scores`.

    Example:
        >>> R = np.array([[[0, 0.8, 0.2, 0.7], [0.8, 0, 0.2, 0.5], [0.2, 0.2, 0, 0.9]]])
        >>> voters = eligible = np.array([[True, True, False]])
        >>> eligible_scores(R, 0, "equation", voters, eligible)
        array([[0.8, 0.8, nan]])
    """
    similarity = as_numbers("similarity", similarity, "[D, N, N + 1]")
    scores = consensus_scores(similarity, alpha, normalization)
    voters, eligible = (
        as_numbers(name, flags, "[D, N]").astype(bool)
        for name, flags in (("voters", voters), ("eligible", eligible))
    )
    if scores.ndim != 2 or not scores.shape == voters.shape == eligible.shape:
        raise ArgumentError(
            f"voters {list(voters.shape)} and eligible {list(eligible.shape)} must be [D, N], as "
            f"the scores {list(scores.shape)} are"
        )
    is_half = normalization == "listing" and alpha == scores.shape[1] - 1 > 1
    for row in np.flatnonzero(~voters.all(1)):
        inside = np.flatnonzero(voters[row])
        among = similarity[row][np.ix_(inside, np.append(inside, -1))]
        own = float(len(inside) - 1) if is_half else alpha
        scores[row, inside] = consensus_scores(among, own, normalization)
    return np.where(eligible & voters, scores, np.nan)


def ranking(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """Indices of the candidates, best first, int [..., N]; equal scores keep candidate order.

    Candidates without a score (NaN) come last.

    Raises:
        ArgumentError: scores are not an array [..., N] of numbers.

    Example:
        >>> ranking([0.2, 0.5, 0.5])
        array([1, 2, 0])
    """
    scores = as_numbers("scores", scores, "[..., N]")
    if scores.ndim < 1:
        raise ArgumentError(f"scores must be an array [..., N], not the number {scores}")
    return np.argsort(-scores.astype(np.float64), axis=-1, kind="stable")
