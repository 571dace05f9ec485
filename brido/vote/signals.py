"""What may order candidates beside Eq. 2: a checker's support, information, the control.

Signals change the order alone: the vote's own scores are dealt out anew (`dealt`).
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.utils.arguments import as_number, as_numbers
from brido.utils.errors import ArgumentError
from brido.vote.consensus import ranking

Signal = tuple[float, NDArray[np.floating]]


def information(
    log_probability: NDArray[np.floating],
    prior: NDArray[np.floating],
    weight: float,
    tokens: NDArray[np.integer] | None = None,
    length_penalty: float = 0.0,
) -> NDArray[np.float64]:
    """What its document adds to a candidate: log p(y | x) - weight * prior; [..., N], in nats.

    log_probability: a candidate's with its own document; prior: the mean of the same with other
    documents (`brido.likelihood.information_terms`). weight 1 is pointwise mutual information,
    which also likes rare wording; 0 is the likelihood, which likes what it would write itself. A
    sum over tokens likes short candidates: with `tokens`, how many were scored, the result is
    divided by tokens ** length_penalty (1: nats a token).

    Raises:
        ArgumentError: the weight is not from 0 to 1, or the shapes differ.

    Example:
        >>> information(np.array([-6.0, -7.0]), np.array([-10.0, -30.0]), 0.2)
        array([-4., -1.])
    """
    _check_share("weight", weight)
    log_probability = as_numbers("log_probability", log_probability, "[..., N]")
    prior = as_numbers("prior", prior, "[..., N]")
    _check_shapes(log_probability, prior)
    found = log_probability.astype(np.float64) - weight * prior.astype(np.float64)
    if tokens is None:
        if length_penalty:
            raise ArgumentError(
                f"length_penalty ({length_penalty}) needs tokens, how many were scored of each"
            )
        return found
    count = as_numbers("tokens", tokens, "[..., N]").astype(np.float64)
    _check_shapes(log_probability, count)
    return found / np.maximum(count, 1) ** length_penalty


def combined(scores: NDArray[np.floating], signals: Sequence[Signal]) -> NDArray[np.float64]:
    """(1 - sum of w) z(scores) + sum of w z(signal), z within each document; [..., N].

    signals: the weight w of each, and its values [..., N]. z(x) = (x - mean) / standard deviation
    (over N) of the candidates that have a score, 0 if all of them are equal. NaN scores stay NaN
    and count in no mean. (ConSUM, 2605.29336: 0.5 for a support check.)

    Raises:
        ArgumentError: the weights are not shares that sum to at most 1, or the shapes differ.

    Example:
        >>> support = np.array([1.0, 0.0, 1.0])
        >>> combined(np.array([0.5, 0.5, 0.2]), [(0.5, support)]).round(3)
        array([ 0.707, -0.354, -0.354])
    """
    scores = as_numbers("scores", scores, "[..., N]")
    signals = [(weight, as_numbers("signals", values, "[..., N]")) for weight, values in signals]
    for weight, values in signals:
        _check_share("weight", weight)
        _check_shapes(scores, values)
    rest = 1 - sum(weight for weight, _ in signals)
    # Shares such as .9 and .1 leave a hair.
    _check_share("what the weights leave", 0.0 if abs(rest) < 1e-9 else rest)
    known = ~np.isnan(scores)
    total = max(rest, 0.0) * _standardised(scores, known)
    for weight, values in signals:
        total = total + weight * _standardised(values, known)
    return total


def dealt(scores: NDArray[np.floating], by: NDArray[np.floating]) -> NDArray[np.float64]:
    """The same scores of each document, the highest for the candidate that is first `by`; [..., N].

    So every order has the scores of the vote, and a margin that is measured in them keeps its
    meaning. Equal values of `by` keep candidate order; NaN scores stay where they are. Two
    candidates that say the same have one score in the vote: dealt to two that do not, the second's
    is lower by the last bit of a float, so that the scores still say the order.

    Raises:
        ArgumentError: the shapes differ.

    Example:
        >>> dealt(np.array([0.5, 0.4, np.nan, 0.2]), np.array([1.0, 9.0, 8.0, 3.0]))
        array([0.2, 0.5, nan, 0.4])
    """
    scores, by = as_numbers("scores", scores, "[..., N]"), as_numbers("by", by, "[..., N]")
    _check_shapes(scores, by)
    wanted = np.where(np.isnan(scores), np.nan, by)
    order = ranking(wanted)
    falling = -np.sort(-np.asarray(scores, np.float64), axis=-1)
    ranked = np.take_along_axis(wanted, order, -1)
    for place in range(1, scores.shape[-1]):
        before, own = falling[..., place - 1], falling[..., place]
        apart = (own >= before) & (ranked[..., place] < ranked[..., place - 1])
        falling[..., place] = np.where(
            apart, np.nextafter(before, -np.inf), np.minimum(own, before)
        )
    found = np.empty(scores.shape)
    np.put_along_axis(found, order, falling, axis=-1)
    return found


def _check_share(name: str, weight: float) -> None:
    as_number(name, weight)
    if not 0 <= weight <= 1:
        raise ArgumentError(f"{name} must be from 0 to 1, not {weight}")


def _check_shapes(first: NDArray[Any], second: NDArray[Any]) -> None:
    if np.shape(first) != np.shape(second):
        raise ArgumentError(
            f"the values {list(np.shape(second))} are not those of the candidates "
            f"{list(np.shape(first))}"
        )


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
        # A prompt may hold half a surrogate pair, which UTF-8 has no bytes for.
        words = [f"{place} {name}".encode("utf-8", "surrogatepass") for place in range(len(known))]
        keys = [blake2b(word).digest() for word in words]
        row[known] = row[known][sorted(range(len(known)), key=keys.__getitem__)]
    return shuffled
