"""Pair accuracy and the election against loops written out, and where they are defined at all."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.stats import bootstrap_interval
from brido.utils.errors import ArgumentError
from brido.vote.check import (
    accuracies,
    comparable_pairs,
    compared_shares,
    pair_accuracy,
    pair_counts,
)


def slow_pairs(unsupported, lengths, tolerance):
    """(document, better, worse) of every pair that counts, by three loops."""
    for d, (wrong, length) in enumerate(zip(unsupported, lengths, strict=True)):
        for i in range(len(wrong)):
            for j in range(len(wrong)):
                longer = max(length[i], length[j])
                if wrong[i] < wrong[j] and abs(length[i] - length[j]) <= tolerance * longer + 1e-9:
                    yield d, i, j


def slow_accuracy(scores, unsupported, lengths, tolerance):
    won = []
    for d, i, j in slow_pairs(unsupported, lengths, tolerance):
        first, second = scores[d][i], scores[d][j]
        if not (math.isnan(first) or math.isnan(second)):
            won.append(1.0 if first > second else 0.5 if first == second else 0.0)
    return (sum(won) / len(won) if won else math.nan), len(won)


@st.composite
def tables(draw):
    """Scores (some NaN), counts and lengths of a few documents, on coarse grids: ties occur."""
    documents, size = draw(st.integers(1, 6)), draw(st.integers(1, 7))

    def table(values):
        row = st.lists(st.sampled_from(values), min_size=size, max_size=size)
        return draw(st.lists(row, min_size=documents, max_size=documents))

    scores = table([0.0, 0.25, 0.5, 1.0, math.nan, -math.inf])
    return scores, table([0, 1, 2]), table([0, 5, 10, 11, 12, 20]), draw(st.sampled_from([0, 0.15]))


@settings(max_examples=300)
@given(tables())
def test_accuracy_is_that_of_the_loops(table):
    scores, unsupported, lengths, tolerance = table
    found, pairs = pair_accuracy(scores, unsupported, lengths, tolerance)
    wanted, count = slow_accuracy(scores, unsupported, lengths, tolerance)
    assert pairs == count
    assert found == pytest.approx(wanted, nan_ok=True)
    indices = comparable_pairs(unsupported, lengths, tolerance)
    triples = zip(*(part.tolist() for part in (
        indices.documents, indices.better, indices.worse
    )), strict=True)  # fmt: skip
    assert sorted(triples) == sorted(slow_pairs(unsupported, lengths, tolerance))


def test_the_edge_of_the_tolerance_counts():
    assert pair_accuracy([[1, 0]], [[0, 1]], [[17, 20]], 0.15) == (1.0, 1)
    # Counts without a sign have no differences below 0.
    lengths = np.array([[17, 20]], np.uint8)
    assert pair_accuracy([[1, 0]], [[0, 1]], lengths, 0.15) == (1.0, 1)
    assert pair_accuracy([[1, 0]], [[0, 1]], [[16.9, 20]], 0.15)[1] == 0
    assert pair_accuracy([[1, 0]], [[0, 1]], [[16, 17]], 0.0)[1] == 0
    assert pair_accuracy([[1, 0]], [[0, 1]], [[0, 17]], 1.0)[1] == 1


def test_intervals_are_over_documents():
    generator = random.Random(3)
    scores = [[generator.random() for _ in range(6)] for _ in range(200)]
    wrong = [[generator.randrange(2) for _ in range(6)] for _ in range(200)]
    pairs = comparable_pairs(wrong, [[9] * 6] * 200)
    better = [[-value for value in row] for row in wrong]
    counts = np.stack([pair_counts(one, pairs) for one in (scores, better)])
    share, perfect = accuracies(counts, 400, 0.95, 0)
    assert (perfect.mean, perfect.low, perfect.high) == (1.0, 1.0, 1.0)
    assert share.low < share.mean < share.high
    # A document's pairs hang together: the interval is that of ratios of resampled sums.
    random_state = np.random.default_rng(9)
    picks = random_state.integers(0, 200, (4000, 200))
    right, total = counts[0, :, 0][picks].sum(1), counts[0, :, 1][picks].sum(1)
    low, high = np.quantile(right / total, [0.025, 0.975])
    assert share.low == pytest.approx(low, abs=0.01)
    assert share.high == pytest.approx(high, abs=0.01)


def test_no_pair_has_no_accuracy():
    value, pairs = pair_accuracy([[1, 2]], [[1, 1]], [[3, 3]])
    assert math.isnan(value)
    assert pairs == 0
    (share,) = accuracies(np.zeros((1, 4, 2)), 50, 0.9, 0)
    assert math.isnan(share.mean)
    assert math.isnan(share.low)


def test_one_pair_has_an_accuracy():
    (share,) = accuracies(np.array([[[1.0, 1.0]]]), 50, 0.9, 0)
    assert (share.mean, share.count) == (1.0, 1)


@pytest.mark.parametrize(("documents", "known"), [(1, False), (19, False), (20, True)])
def test_an_interval_needs_pairs_of_twenty_documents(documents, known):
    counts = np.zeros((2, 100, 2))
    counts[:, :documents] = [[3.0, 3.0]]
    counts[1, 50:53] = [[1.0, 2.0]]
    first, second = accuracies(counts, 50, 0.9, 0)
    assert (math.isnan(first.low), math.isnan(first.high)) == (not known, not known)
    assert math.isnan(second.low) == (documents == 1)


def test_compared_shares_are_means_and_the_intervals_of_their_seed():
    random = np.random.default_rng(5)
    first, second = random.random((2, 40))
    first[3] = math.nan
    found = compared_shares(first, second, 200, 0.9, 7)
    for share, values in zip(found, (first, second, first - second), strict=True):
        low, high = bootstrap_interval(values[:, None], 200, 0.9, 7)
        assert (share.low, share.high) == (pytest.approx(low[0]), pytest.approx(high[0]))
        assert (share.mean, share.count) == (pytest.approx(np.nanmean(values)), 39)


@pytest.mark.parametrize(
    ("arrays", "named"),
    [
        (([[0, 1]], [[1, 2, 3]]), "one shape"),
        (([0, 1], [1, 2]), "one shape"),
        (([[0, 1]], [[1, 1]], 1.1), "tolerance"),
        (([[0, 1]], [[1, 1]], math.nan), "tolerance"),
    ],
)
def test_what_has_no_meaning_is_refused(arrays, named):
    with pytest.raises(ArgumentError, match=named):
        comparable_pairs(*arrays)


@pytest.mark.parametrize(
    "scores",
    [[0.9, 0.1, 0.5], [[1, 2]], [[1, 2, 3, 4]], [[0.9, 0.1, 0.5]] * 2, [["a", "b", "c"]]],
)
def test_scores_of_another_shape_are_refused(scores):
    with pytest.raises(ArgumentError, match="scores"):
        pair_accuracy(scores, [[0, 1, 1]], [[10, 10, 30]])
