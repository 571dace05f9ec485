"""Eq. 2 against sums written out, and against the paper's code as its description has it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.utils.errors import BridoError
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


def test_a_case_worked_out_by_hand():
    matrix = np.array([[9, 0.5, 0.25, 1], [0, 9, 0.5, 0], [1, 0.5, 9, 0.5]])
    assert consensus_scores(matrix, 0).tolist() == [0.375, 0.25, 0.75]
    assert consensus_scores(matrix, 2).tolist() == [0.6875, 0.125, 0.625]
    assert consensus_scores(matrix, math.inf).tolist() == [1, 0, 0.5]


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


@given(st.data(), st.sampled_from([0, 1, 2.5, math.inf]), st.integers(2, 6), st.integers(1, 4))
def test_who_does_not_vote_is_as_if_it_were_not_there(data, alpha, size, documents):
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    matrices = generator.random((documents, size, size + 1)).astype(np.float32)
    voters = generator.random((documents, size)) < 0.7
    voters[:, : 2 if alpha == 0 else 1] = True
    eligible = generator.random((documents, size)) < 0.7
    found = eligible_scores(matrices, alpha, "equation", voters, eligible)
    for row in range(documents):
        wanted = obvious_eligible_scores(
            matrices[row], alpha, "equation", voters[row], eligible[row]
        )
        np.testing.assert_allclose(found[row], wanted, rtol=1e-12)
    everyone = np.ones((documents, size), dtype=bool)
    whole = eligible_scores(matrices, alpha, "equation", everyone, everyone)
    np.testing.assert_array_equal(whole, consensus_scores(matrices, alpha))


@pytest.mark.parametrize("size", [3, 5, 32])
def test_with_listing_half_the_vote_is_half_of_each_documents_voters(size):
    """One candidate that does not vote is no reason to refuse the preset's alpha."""
    matrices = np.stack([similarity(size, seed) for seed in range(3)])
    voters = np.ones((3, size), bool)
    voters[1, 0] = voters[2, size - 1] = False
    found = eligible_scores(matrices, size - 1, "listing", voters, voters)
    assert found[0].tolist() == consensus_scores(matrices[0], size - 1, "listing").tolist()
    for row in (1, 2):
        inside = np.flatnonzero(voters[row])
        among = matrices[row][np.ix_(inside, [*inside, size])]
        wanted = consensus_scores(among, size - 2, "listing")
        assert found[row, inside].tolist() == wanted.tolist()
        assert np.isnan(found[row]).sum() == 1
    # Alpha 1 is 1 for every number of voters, and no other alpha is taken.
    one = eligible_scores(matrices, 1, "listing", voters, voters)
    among = matrices[1][1:, 1:]
    assert one[1, 1:].tolist() == consensus_scores(among, 1, "listing").tolist()
    with pytest.raises(BridoError, match="listing"):
        eligible_scores(matrices, size - 0.5, "listing", voters, voters)


def test_with_listing_the_only_voter_of_two_is_scored_by_the_reference():
    """Alpha 1 is N - 1 here, and means 1 all the same."""
    matrices = np.array([[[9, 0.5, 0.25], [0.5, 9, 0.75]]] * 2)
    voters = [[True, False], [True, True]]
    found = eligible_scores(matrices, 1, "listing", voters, voters)
    assert found[0, 0] == 0.25
    assert math.isnan(found[0, 1])
    assert found[1].tolist() == [0.375, 0.625]
