"""Eq. 2: from the similarity of all pairs to a score for every candidate and their order."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from brido.arguments import as_number, as_numbers
from brido.errors import ArgumentError, quoted

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

    The similarities may be lists or tensors too. Those with the reference may be NaN, where there
    is none: the scores are then NaN too, unless alpha is 0.

    Raises:
        ArgumentError: the shape is no [..., N, N + 1], a similarity of two candidates is no number,
            alpha is negative or NaN, N is 1 with alpha 0 (nobody votes), or `listing` with an alpha
            that it does not know.
    """
    similarity = as_numbers("similarity", similarity, "[..., N, N + 1]")
    alpha = as_number("alpha", alpha)
    size = _checked_size(similarity, alpha)
    if normalization not in ("equation", "listing"):
        raise ArgumentError(f"normalization is equation or listing, not {quoted(normalization)}")
    pairs = _others(similarity)
    numbers = np.isfinite(pairs)
    numbers[..., -1] |= np.isnan(pairs[..., -1])
    if not numbers.all():
        place = np.argwhere(~numbers.all(-1))[0].tolist()
        raise ArgumentError(f"similarity of candidate {place} holds values that are no numbers")
    return _scores(similarity, alpha, size, normalization)


def _scores(
    similarity: NDArray[Any], alpha: float, size: int, normalization: Normalization
) -> NDArray[np.float64]:
    if math.isinf(alpha):
        return similarity[..., -1].astype(np.float64)
    if size == 1 and alpha == 0:
        raise ArgumentError("one candidate and alpha = 0: nobody votes; give N > 1 or alpha > 0")
    if normalization == "listing":
        return _listing_scores(similarity, alpha, size).astype(np.float64)
    values = _others(similarity.astype(np.float64))
    total = values[..., :-1].sum(-1)
    if alpha > 0:
        # At 0 there may be no reference, which the table says as NaN.
        total = total + alpha * values[..., -1]
    return total / (size - 1 + alpha)


def eligible_scores(
    similarity: NDArray[np.floating],
    alpha: float,
    normalization: Normalization,
    voters: NDArray[np.bool_],
    eligible: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """`consensus_scores` among the voters, float64 [D, N]; NaN for who cannot be elected.

    similarity [D, N, N + 1] as there. voters, eligible [D, N]: who has a vote, and who of these can
    be elected. Whoever has no vote is as if it were not there: N counts the voters alone.

    Raises:
        BridoError: a document's one voter has nobody to vote for it, or see `consensus_scores`.
    """
    scores = consensus_scores(similarity, alpha, normalization)
    for row in np.flatnonzero(~voters.all(1)):
        inside = np.flatnonzero(voters[row])
        columns = [*inside, similarity.shape[1]]
        among = similarity[row][np.ix_(inside, columns)]
        scores[row, inside] = consensus_scores(among, alpha, normalization)
    return np.where(eligible & voters, scores, np.nan)


def ranking(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """Indices of the candidates, best first, int [..., N]; equal scores keep candidate order.

    Those without a score (NaN) come last.

    Raises:
        ArgumentError: scores are no array [..., N] of numbers.
    """
    scores = as_numbers("scores", scores, "[..., N]")
    if scores.ndim < 1:
        raise ArgumentError(f"scores must be an array [..., N], not the number {scores}")
    return np.argsort(-scores.astype(np.float64), axis=-1, kind="stable")


def first_of_each_text(texts: Sequence[Sequence[object]]) -> NDArray[np.int64]:
    """For every text of D documents [D, N] the place of the first one that is the same, [D, N]."""
    return np.array([[row.index(text) for text in row] for row in map(list, texts)])


def probability_scores(
    similarity: NDArray[np.floating],
    alpha: float,
    log_probability: NDArray[np.floating],
    same: NDArray[np.integer],
    temperature: float = 1.0,
) -> NDArray[np.float64]:
    """Eq. 2 with the candidates' votes weighted by what the model thinks of them, [..., N].

    Score(S_i) = ((N - 1) * sum over distinct j of w_j R(S_i, S_j) + alpha R(S_i, S*))
                 / (N - 1 + alpha)

    w is the softmax of log p(S_j | document) / temperature over the distinct texts, so the sum is
    the expected similarity under the model's own distribution, cut down to the candidates (Jinnai
    et al. 2311.05263). Unlike in Eq. 2 a candidate has a vote for itself, with R = 1: there all
    such votes would be equal. However often a text was written, it votes once; equal texts have
    equal scores, and a temperature of infinity gives every distinct text the same vote.

    similarity [..., N, N + 1] as `consensus_scores` takes it, log_probability [..., N] (natural, a
    sum over tokens), same [..., N] (`first_of_each_text`).

    Raises:
        ArgumentError: shapes that do not fit, an alpha below 0, a temperature that is not above 0.
    """
    size = _checked_size(similarity, alpha)
    if not temperature > 0:
        raise ArgumentError(f"temperature must be above 0, not {temperature}")
    if log_probability.shape != similarity.shape[:-1] or same.shape != similarity.shape[:-1]:
        raise ArgumentError(
            f"log_probability and same must be {list(similarity.shape[:-1])}, not "
            f"{list(log_probability.shape)} and {list(same.shape)}"
        )
    if math.isinf(alpha):
        return similarity[..., -1].astype(np.float64)
    distinct = same == np.arange(size)
    scaled = np.where(distinct, log_probability.astype(np.float64) / temperature, -np.inf)
    weights = np.exp(scaled - scaled.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    equal = same[..., :, None] == same[..., None, :]
    values = np.where(equal, 1.0, similarity[..., :-1].astype(np.float64))
    # Not a matrix product, whose order of additions may depend on how many documents there are.
    total = (size - 1) * (values * weights[..., None, :]).sum(-1)
    if alpha:
        total = total + alpha * similarity[..., -1]
    # A single candidate's own vote is no vote of others, but a number.
    return total / (size - 1 + alpha) if size > 1 or alpha else np.ones_like(total)


def eligible_probability_scores(
    similarity: NDArray[np.floating],
    alpha: float,
    log_probability: NDArray[np.floating],
    same: NDArray[np.integer],
    temperature: float,
    voters: NDArray[np.bool_],
    eligible: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """`probability_scores` among the voters, as `eligible_scores` is of `consensus_scores`."""
    scores = probability_scores(similarity, alpha, log_probability, same, temperature)
    for row in np.flatnonzero(~voters.all(1)):
        inside = np.flatnonzero(voters[row])
        among = similarity[row][np.ix_(inside, [*inside, similarity.shape[1]])]
        texts = first_of_each_text([same[row, inside].tolist()])[0]
        scores[row, inside] = probability_scores(
            among, alpha, log_probability[row, inside], texts, temperature
        )
    return np.where(eligible & voters, scores, np.nan)


def supported_scores(
    scores: NDArray[np.floating], support: NDArray[np.floating], weight: float
) -> NDArray[np.float64]:
    """(1 - weight) z(scores) + weight z(support), z within each document; [..., N].

    z(x) = (x - mean) / standard deviation (over N) of a document's candidates, 0 where all of them
    are equal. weight 0 returns `scores` as they are: Eq. 2's. (ConSUM, 2605.29336: half and half.)
    Candidates whose score is NaN stay NaN and count in no mean.

    Raises:
        ArgumentError: the weight is no share, or the shapes differ.
    """
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


def _checked_size(similarity: NDArray[Any], alpha: float) -> int:
    if similarity.ndim < 2 or similarity.shape[-1] != similarity.shape[-2] + 1:
        raise ArgumentError(f"similarity must be [..., N, N + 1], not {list(similarity.shape)}")
    if not alpha >= 0:
        raise ArgumentError(f"alpha must be 0 or more (inf: reference only), not {alpha}")
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
    raise ArgumentError(
        f"normalization `listing` knows alpha 0, 1, N - 1 (here {size - 1}) and inf, not {alpha}: "
        "use normalization `equation`"
    )
