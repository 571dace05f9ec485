"""Eq. 2: from the similarity of all pairs to a score for every candidate and their order."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from brido.errors import BridoError

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

    Raises:
        BridoError: the shape is no [..., N, N + 1], alpha is negative or NaN, N is 1 with alpha 0
            (nobody votes), or `listing` with an alpha that it does not know.
    """
    size = _checked_size(similarity, alpha)
    if math.isinf(alpha):
        return similarity[..., -1].astype(np.float64)
    if size == 1 and alpha == 0:
        raise BridoError("one candidate and alpha = 0: nobody votes; give N > 1 or alpha > 0")
    if normalization == "listing":
        return _listing_scores(similarity, alpha, size).astype(np.float64)
    values = _others(similarity.astype(np.float64))
    total = values[..., :-1].sum(-1) + alpha * values[..., -1]
    return total / (size - 1 + alpha)


def ranking(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """Indices of the candidates, best first, int [..., N]; equal scores keep candidate order."""
    return np.argsort(-np.asarray(scores), axis=-1, kind="stable")


def _checked_size(similarity: NDArray[np.floating], alpha: float) -> int:
    if similarity.ndim < 2 or similarity.shape[-1] != similarity.shape[-2] + 1:
        raise BridoError(f"similarity must be [..., N, N + 1], not {list(similarity.shape)}")
    if not alpha >= 0:
        raise BridoError(f"alpha must be 0 or more (inf: reference only), not {alpha}")
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
    values = _others(similarity.astype(np.float32))
    if alpha == 0:
        return np.ascontiguousarray(values[..., :-1]).mean(-1)
    if alpha == 1:
        return values.mean(-1)
    if alpha == size - 1:
        weights = np.ones(size, np.float32)
        weights[-1] = alpha
        # The code divides by the sum of N + 1 weights, the candidate's own included.
        return (values * (weights / (weights.sum() + 1))).mean(-1)
    raise BridoError(
        f"normalization `listing` knows alpha 0, 1, N - 1 (here {size - 1}) and inf, not {alpha}: "
        "use normalization `equation`"
    )
