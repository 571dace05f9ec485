"""Eq. 2 against sums written out, and against the paper's code as its description has it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.vote.consensus import consensus_scores, eligible_scores, ranking


def similarity(size, seed=0):
    return np.random.default_rng(seed).random((size, size + 1)).astype(np.float32)


def equation_2(matrix, alpha):
    size = len(matrix)
    return [
        (
            math.fsum(float(matrix[i, j]) for j in range(size) if j != i)
            + alpha * float(matrix[i, size])
        )
        / (size - 1 + alpha)
        for i in range(size)
    ]


def listing(matrix, mode):
    """The paper's code: float32 values, means of rows, weights normalised over all N + 1."""
    size = len(matrix)
    if mode == "reference":
        return matrix[:, size]
    inside = matrix[:, :size][~np.eye(size, dtype=bool)].reshape(size, size - 1)
    if mode == "candidates":
        return inside.mean(1)
    with_reference = np.concatenate([inside, matrix[:, size:]], 1)
    if mode == "candidates and reference":
        return with_reference.mean(1)
    weights = np.array([1] * size + [size - 1], np.float32)
    weights /= weights.sum()
    return (with_reference * weights[1:]).mean(1)


MODES = {
    "candidates": lambda size: 0,
    "candidates and reference": lambda size: 1,
    "reference weighted": lambda size: size - 1,
    "reference": lambda size: math.inf,
}


@given(st.integers(2, 40), st.integers(0, 99), st.floats(0, 1e6))
def test_equation_is_the_weighted_mean(size, seed, alpha):
    matrix = similarity(size, seed)
    np.testing.assert_allclose(
        consensus_scores(matrix, alpha), equation_2(matrix, alpha), rtol=1e-13
    )


@pytest.mark.parametrize("size", [2, 5, 16, 32])
@pytest.mark.parametrize("mode", MODES)
def test_listing_is_what_the_code_computes_bit_for_bit(size, mode):
    for seed in range(20):
        matrix = similarity(size, seed)
        if size == 2 and mode == "reference weighted":
            mode = "candidates and reference"  # alpha 1 means both; the code's mean of two
        found = consensus_scores(matrix, MODES[mode](size), "listing")
        assert found.tolist() == listing(matrix, mode).astype(np.float64).tolist()


def test_at_alpha_0_there_need_be_no_reference():
    matrix = similarity(6)
    alone = matrix.copy()
    alone[:, -1] = np.nan
    for normalization in ("equation", "listing"):
        found = consensus_scores(alone, 0, normalization)
        assert np.array_equal(found, consensus_scores(matrix, 0, normalization))
    for alpha in (1, math.inf):
        assert np.isnan(consensus_scores(alone, alpha)).all()


def test_ranking_is_best_first_and_keeps_the_order_of_equal_scores():
    """NumPy's default sort is stable for short rows only."""
    assert ranking(np.array([0.5, 0.75, math.nan, 0.75, 1.0])).tolist() == [4, 1, 3, 0, 2]
    assert ranking(np.full((2, 32), 0.5)).tolist() == [list(range(32))] * 2
    halves = np.repeat([0.25, 0.75], 32)
    assert ranking(halves).tolist() == [*range(32, 64), *range(32)]


def obvious_eligible_scores(matrix, alpha, normalization, voters, eligible):
    """One document: the scores of a matrix that never had the others' rows and columns."""
    inside = [place for place, vote in enumerate(voters) if vote]
    small = [[matrix[i][j] for j in [*inside, len(matrix)]] for i in inside]
    scores = consensus_scores(np.array(small, dtype=np.float32), alpha, normalization)
    found = dict(zip(inside, scores, strict=True))
    return [found[i] if eligible[i] and voters[i] else math.nan for i in range(len(matrix))]


@given(
    st.integers(0, 2**32),
    st.sampled_from([0, 1, 2.5, "half the vote", math.inf]),
    st.sampled_from(["equation", "listing"]),
    st.integers(2, 6),
    st.integers(1, 4),
)
def test_who_does_not_vote_is_as_if_it_were_not_there(seed, alpha, normalization, size, documents):
    generator = np.random.default_rng(seed)
    if alpha == "half the vote" or (normalization == "listing" and alpha == 2.5):
        alpha = size - 1
    # A preset's alpha N - 1 stays valid where one of N candidates does not vote. For two candidates
    # N - 1 is 1, and means 1.
    is_half = normalization == "listing" and alpha == size - 1 > 1
    matrices = generator.random((documents, size, size + 1)).astype(np.float32)
    voters = generator.random((documents, size)) < 0.7
    voters[:, : 2 if alpha == 0 or is_half else 1] = True
    eligible = generator.random((documents, size)) < 0.7
    found = eligible_scores(matrices, alpha, normalization, voters, eligible)
    for row in range(documents):
        own = voters[row].sum() - 1 if is_half else alpha
        wanted = obvious_eligible_scores(
            matrices[row], own, normalization, voters[row], eligible[row]
        )
        np.testing.assert_allclose(found[row], wanted, rtol=1e-12)
    everyone = np.ones((documents, size), dtype=bool)
    whole = eligible_scores(matrices, alpha, normalization, everyone, everyone)
    np.testing.assert_array_equal(whole, consensus_scores(matrices, alpha, normalization))
