"""The orders that the check compares, and what is left of one when others are taken out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.vote.consensus import consensus_scores
from brido.vote.rankings import rankings, without
from brido.vote.signals import combined


def slow_rank(values):
    """From -1/2 to 1/2, ties share theirs; `values` has no NaN."""
    size = len(values)
    places = [
        sum(other < own for other in values) + (sum(other == own for other in values) - 1) / 2
        for own in values
    ]
    return [(place - (size - 1) / 2) / size for place in places]


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 999))
def test_what_is_left_are_the_residuals_of_one_regression_of_ranks(documents, size, seed):
    random = np.random.default_rng(seed)
    scores, *others = random.integers(0, 4, (3, documents, size)).astype(float)
    scores[random.random(scores.shape) < 0.2] = np.nan
    found = without(scores, others)
    rows, columns = [], []
    for document in range(documents):
        known = ~np.isnan(scores[document])
        rows += slow_rank(scores[document][known].tolist())
        ranks = [slow_rank(other[document][known].tolist()) for other in others]
        columns += list(zip(*ranks, strict=True))
    assert np.array_equal(np.isnan(found), np.isnan(scores))
    if not rows:
        return
    left = found[~np.isnan(found)]
    predictors = np.array(columns)
    # Residuals of least squares: what the predictors explain of the rest, and nothing of them left.
    assert np.allclose(predictors.T @ left, 0, atol=1e-7)
    explained = np.array(rows) - left
    weights, *_ = np.linalg.lstsq(predictors, explained, rcond=None)
    assert np.allclose(predictors @ weights, explained, atol=1e-7)


def test_an_order_that_only_copies_has_nothing_left():
    random = np.random.default_rng(1)
    copied, other = random.random((2, 9, 6))
    assert not without(np.exp(copied), [copied, other]).any()
    assert without(copied + other, [copied]).any()


def made():
    random = np.random.default_rng(0)
    similarity = random.random((4, 5, 6))
    scores = consensus_scores(similarity, 0)
    scores[:, 1] = np.nan
    return {
        "scores": scores,
        "voters": np.ones((4, 5), bool),
        "similarity": similarity,
        "words": random.integers(5, 9, (4, 5)),
        "log_probability": random.normal(-20, 3, (4, 5)),
        "prior": random.normal(-60, 3, (4, 5)),
        "tokens": random.integers(5, 9, (4, 5)),
        "ids": np.array(["a", "b", "c", "d"]),
    }


def test_every_order_ranks_those_that_can_be_elected():
    found = made()
    compared = rankings(found, 0.2)
    assert {"vote", "consensus", "information", "both", "reference", "shuffled"} <= set(compared)
    for values in compared.values():
        assert np.array_equal(np.isnan(values), np.isnan(found["scores"]))
    added = found["log_probability"] - 0.2 * found["prior"]
    assert compared["information"][2, 3] == pytest.approx(added[2, 3])
    known = np.where(np.isnan(compared["consensus"]), np.nan, 0)
    for penalty in (0.0, 1.0):
        divided = rankings(found, 0.2, penalty)
        tokens = found["tokens"] ** penalty
        assert divided["information"] == pytest.approx(added / tokens + known, nan_ok=True)
        likely = found["log_probability"] / tokens
        wanted = combined(compared["consensus"], [(0.5, likely)])
        assert divided["both"] == pytest.approx(wanted, nan_ok=True)
    shuffled, plain = (np.sort(compared[name]) for name in ("shuffled", "consensus"))
    assert np.array_equal(shuffled, plain, equal_nan=True)
    del found["prior"]
    assert "information" not in rankings(found, 0.2)
