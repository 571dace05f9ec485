"""What stands beside the orders of a run, and what is left of an order when it is taken out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.vote.consensus import consensus_scores
from brido.vote.rankings import LABELS, fixed_orders, left_of, preferences, within_ranks
from brido.vote.signals import shuffled_scores


def slow_rank(values):
    """From 0 to 1: the share of candidates below, half of the equal ones among them."""
    size = len(values)
    return [
        (sum(other < own for other in values) + sum(other == own for other in values) / 2) / size
        for own in values
    ]


def test_ranks_by_hand():
    values = np.array([[3.0, 1.0, 1.0, math.nan], [5.0, math.nan, math.nan, math.nan]])
    wanted = [[2.5 / 3, 1 / 3, 1 / 3, math.nan], [0.5, math.nan, math.nan, math.nan]]
    assert within_ranks(values) == pytest.approx(np.array(wanted), nan_ok=True)


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 999))
def test_what_is_left_are_the_residuals_of_one_regression_of_ranks(documents, size, seed):
    random = np.random.default_rng(seed)
    scores, *others = random.integers(0, 4, (3, documents, size)).astype(float)
    scores[random.random(scores.shape) < 0.2] = np.nan
    found = left_of(scores, dict(enumerate(others)))
    rows = []
    for document in range(documents):
        known = ~np.isnan(scores[document])
        if known.any():
            ranks = [slow_rank(one[document][known].tolist()) for one in (scores, *others)]
            rows += [np.array(values) - np.mean(values, axis=0) for values in [np.transpose(ranks)]]
    assert np.array_equal(np.isnan(found), np.isnan(scores))
    if not rows:
        return
    table = np.concatenate(rows)
    wanted, predictors = table[:, 0], table[:, 1:]
    weights, *_ = np.linalg.lstsq(predictors, wanted, rcond=1e-10)
    if len(table) - len(rows) > 2:
        wanted = wanted - predictors @ weights
    assert found[~np.isnan(found)] == pytest.approx(wanted, abs=1e-7)


def test_an_order_that_only_copies_has_nothing_left():
    random = np.random.default_rng(1)
    copied, other = random.random((2, 9, 6))
    assert not left_of(np.exp(copied), {"copied": copied, "other": other}).any()
    assert left_of(copied + other, {"copied": copied}).any()


def made():
    random = np.random.default_rng(0)
    similarity = random.random((4, 5, 6))
    scores = consensus_scores(similarity, 0)
    scores[:, 1] = np.nan
    return scores, {
        "voters": np.ones((4, 5), bool),
        "similarity": similarity,
        "words": random.integers(5, 9, (4, 5)),
        "copied": random.random((4, 5)),
        "log_probability": random.normal(-20, 3, (4, 5)),
        "prior": random.normal(-60, 3, (4, 5)),
        "support": random.random((4, 5)),
        "tokens": random.integers(5, 9, (4, 5)),
        "ids": np.array(["a", "b", "c", "d"]),
    }


def test_the_fixed_orders_by_hand():
    scores, arrays = made()
    found = fixed_orders(arrays, scores)
    assert list(found) == list(LABELS)
    for values in found.values():
        assert np.array_equal(np.isnan(values), np.isnan(scores))
    similarity = arrays["similarity"]
    others = [similarity[2, 3, other] for other in range(5) if other != 3]
    reference = similarity[2, 3, 5]
    assert found["consensus"][2, 3] == pytest.approx(sum(others) / 4)
    assert found["half"][2, 3] == pytest.approx((sum(others) + 4 * reference) / 8)
    assert found["reference"][2, 3] == reference
    own, prior = arrays["log_probability"][2, 3], arrays["prior"][2, 3]
    assert found["information"][2, 3] == pytest.approx(own - 0.2 * prior)
    assert found["log_probability"][2, 3] == own
    assert found["mean_log_probability"][2, 3] == own / arrays["tokens"][2, 3]
    assert found["copied"][2, 3] == arrays["copied"][2, 3]
    assert found["support"][2, 3] == arrays["support"][2, 3]
    assert found["shorter"][2, 3] == -arrays["words"][2, 3]
    assert np.array_equal(np.sort(found["shuffled"]), np.sort(scores), equal_nan=True)
    # The documents' names decide.
    shuffled = shuffled_scores(scores, ["a", "b", "c", "d"])
    assert np.array_equal(found["shuffled"], shuffled, equal_nan=True)
    assert not np.array_equal(found["shuffled"], scores, equal_nan=True)
    assert np.array_equal(preferences(arrays)["length"], arrays["tokens"])


def test_what_is_not_known_has_no_row():
    scores, arrays = made()
    arrays["similarity"][:, :, -1] = math.nan
    for name in ("prior", "support", "tokens", "copied"):
        del arrays[name]
    gone = {"half", "reference", "information", "support", "mean_log_probability", "copied"}
    assert set(fixed_orders(arrays, scores)) == set(LABELS) - gone
    assert list(preferences(arrays)) == ["log_probability", "length"]
    assert np.array_equal(preferences(arrays)["length"], arrays["words"])


def test_a_text_of_no_tokens_has_its_log_p_a_token():
    arrays = {"log_probability": np.array([[-3.0, -4.0, -6.0]]), "tokens": np.array([[0, 1, 2]])}
    assert preferences(arrays)["mean_log_probability"].tolist() == [[-3.0, -4.0, -3.0]]
