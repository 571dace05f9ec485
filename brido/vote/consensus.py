"""Eq. 2: from the similarity of all pairs to a score for every candidate and their order."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from brido.utils.arguments import as_alpha, as_numbers, listing_alphas
from brido.utils.errors import ArgumentError, quoted

Normalization = Literal["equation", "listing"]


def consensus_scores(
    similarity: NDArray[np.floating], alpha: float, normalization: Normalization = "equation"
) -> NDArray[np.float64]:
    """Score(S_i) for every candidate, float64 [..., N] (Eq. 2).

    Score(S_i) = (sum over j != i of R(S_i, S_j) + alpha * R(S_i, S*)) / (N - 1 + alpha)

    similarity [..., N, N + 1]: R of candidate (row) with candidate (column) and, in the last
    column, with the reference; the diagonal is ignored. alpha 0 asks the candidates only, N - 1
    gives the reference half the vote, inf returns the last column (BRIO).

    `equation` sums in float64. `listing` is what the paper's code computes: float32 means of rows;
    at alpha = N - 1 it divides by (2N - 1) N where Eq. 2 divides by 2N - 2, which leaves the order
    alone but scales the scores, and with them a difference margin.

    The similarities may be lists or tensors too. Those with the reference may be NaN if there is no
    reference: the scores are then NaN too, unless alpha is 0.

    Raises:
        ArgumentError: the shape is not [..., N, N + 1], a similarity of two candidates is NaN or
            infinite, alpha is negative or NaN, N is 1 with alpha 0 (there is no other candidate),
            or `listing` with an alpha that it is not defined for.

    Example:
        >>> R = [[0, 0.8, 0.2, 0.7], [0.8, 0, 0.2, 0.5], [0.2, 0.2, 0, 0.9]]
        >>> consensus_scores(R, alpha=0)
        array([0.5, 0.5, 0.2])
        >>> consensus_scores(R, alpha=math.inf)
        array([0.7, 0.5, 0.9])
    """
    similarity = as_numbers("similarity", similarity, "[..., N, N + 1]")
    alpha = as_alpha(alpha)
    size = _checked_size(similarity)
    if normalization not in ("equation", "listing"):
        raise ArgumentError(f"normalization is equation or listing, not {quoted(normalization)}")
    pairs = _others(similarity)
    numbers = np.isfinite(pairs)
    # NaN with the reference: there is none.
    numbers[..., -1] |= np.isnan(pairs[..., -1])
    if not numbers.all():
        place = np.argwhere(~numbers.all(-1))[0].tolist()
        raise ArgumentError(f"similarity of candidate {place} contains NaN or infinity")
    return _scores(similarity, alpha, size, normalization)


def _scores(
    similarity: NDArray[Any], alpha: float, size: int, normalization: Normalization
) -> NDArray[np.float64]:
    if math.isinf(alpha):
        return similarity[..., -1].astype(np.float64)
    if size == 1 and alpha == 0:
        raise ArgumentError("one candidate cannot vote at alpha = 0: give N > 1 or alpha > 0")
    if normalization == "listing":
        return _listing_scores(similarity, alpha, size).astype(np.float64)
    values = _others(similarity.astype(np.float64))
    total = values[..., :-1].sum(-1)
    if alpha > 0:
        # At 0 the reference may be missing: its column is then NaN.
        total = total + alpha * values[..., -1]
    return total / (size - 1 + alpha)


def eligible_scores(
    similarity: NDArray[np.floating],
    alpha: float,
    normalization: Normalization,
    voters: NDArray[np.bool_],
    eligible: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """`consensus_scores` among the voters, float64 [D, N]; NaN for candidates not to be elected.

    similarity [D, N, N + 1] as there. voters, eligible [D, N]: which candidates vote, and which of
    these can be elected. A candidate that does not vote is ignored: N counts the voters only.

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
    voters, eligible = (
        as_numbers(name, values, "[D, N]").astype(bool)
        for name, values in (("voters", voters), ("eligible", eligible))
    )
    scores = consensus_scores(similarity, alpha, normalization)
    if scores.ndim != 2 or not scores.shape == voters.shape == eligible.shape:
        raise ArgumentError(
            f"voters {list(voters.shape)} and eligible {list(eligible.shape)} must be [D, N], as "
            f"the scores {list(scores.shape)} are"
        )
    for row in np.flatnonzero(~voters.all(1)):
        inside = np.flatnonzero(voters[row])
        columns = [*inside, similarity.shape[1]]
        among = similarity[row][np.ix_(inside, columns)]
        scores[row, inside] = consensus_scores(among, alpha, normalization)
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


def _checked_size(similarity: NDArray[Any]) -> int:
    if similarity.ndim < 2 or similarity.shape[-1] != similarity.shape[-2] + 1:
        raise ArgumentError(
            "similarity must be [..., N, N + 1], the reference's column last, as similarity_matrix "
            f"makes it, not {list(similarity.shape)}"
        )
    return similarity.shape[-2]


def _others(similarity: NDArray[np.floating]) -> NDArray[np.floating]:
    """The matrix without its diagonal: [..., N, N], the reference still in the last column."""
    size = similarity.shape[-2]
    keep = ~np.eye(size, size + 1, dtype=bool)
    # Contiguous, so that rows are summed in one order however many documents there are.
    values = np.ascontiguousarray(similarity[..., keep])
    return values.reshape(*similarity.shape[:-1], size)


def _listing_scores(
    similarity: NDArray[np.floating], alpha: float, size: int
) -> NDArray[np.float32]:
    if alpha not in listing_alphas(size):
        raise ArgumentError(
            f"normalization `listing` is defined for alpha 0, 1, N - 1 (here {size - 1}) and inf, "
            f"not {alpha}: use normalization `equation`"
        )
    values = _others(similarity.astype(np.float32))
    if alpha == 0:
        return np.ascontiguousarray(values[..., :-1]).mean(-1)
    if alpha == 1:
        return values.mean(-1)
    weights = np.ones(size, np.float32)
    weights[-1] = alpha
    # The code divides by the sum of N + 1 weights, the candidate's own included.
    return (values * (weights / (weights.sum() + 1))).mean(-1)
