"""Pair accuracy against loops written out, and where it is defined at all."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.vote.check import pair_accuracy


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


def test_the_edge_of_the_tolerance_counts():
    assert pair_accuracy([[1, 0]], [[0, 1]], [[17, 20]], 0.15) == (1.0, 1)
    assert 0.29 * 100 < 29
    assert pair_accuracy([[1, 0]], [[0, 1]], [[71, 100]], 0.29) == (1.0, 1)
    # Counts without a sign have no differences below 0.
    lengths = np.array([[17, 20]], np.uint8)
    assert pair_accuracy([[1, 0]], [[0, 1]], lengths, 0.15) == (1.0, 1)
    assert pair_accuracy([[1, 0]], [[0, 1]], [[16.9, 20]], 0.15)[1] == 0
    assert pair_accuracy([[1, 0]], [[0, 1]], [[16, 17]], 0.0)[1] == 0
    assert pair_accuracy([[1, 0]], [[0, 1]], [[0, 17]], 1.0)[1] == 1
