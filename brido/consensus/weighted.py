"""Votes that weigh more than Eq. 2's: by what the model thinks of a voter, or beside a checker."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from brido.consensus.equation import checked_size
from brido.errors import ArgumentError


def first_of_each_text(texts: Sequence[Sequence[object]]) -> NDArray[np.int64]:
    """For every text of D documents [D, N] the place of the first one that is the same, [D, N].

    Example:
        >>> first_of_each_text([["a cat", "a dog", "a cat"]])
        array([[0, 1, 0]])
    """
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

    Example:
        >>> R = np.array([[0, 0.8, 0.2, 0.7], [0.8, 0, 0.2, 0.5], [0.2, 0.2, 0, 0.9]])
        >>> probability_scores(R, 0, np.log([0.5, 0.25, 0.25]), np.arange(3))
        array([0.75, 0.7 , 0.4 ])
    """
    size = checked_size(similarity, alpha)
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
    """`probability_scores` among the voters, as `eligible_scores` is of `consensus_scores`.

    Arrays [D, N] and [D, N, N + 1] as these take them.

    Example:
        >>> R = np.array([[[0, 0.8, 0.2, 0.7], [0.8, 0, 0.2, 0.5], [0.2, 0.2, 0, 0.9]]])
        >>> log_p, same = np.log([[0.5, 0.25, 0.25]]), np.arange(3)[None]
        >>> voters = eligible = np.array([[True, True, False]])
        >>> eligible_probability_scores(R, 0, log_p, same, 1.0, voters, eligible).round(3)
        array([[0.933, 0.867,   nan]])
    """
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

    Example:
        >>> supported_scores(np.array([0.5, 0.5, 0.2]), np.array([1.0, 0.0, 1.0]), 0.5).round(3)
        array([ 0.707, -0.354, -0.354])
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
