"""Signals, the control and sentences, each against its definition written out in loops."""

import math
import statistics
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.rouge import similarity_matrix
from brido.vote.consensus import consensus_scores, ranking
from brido.vote.signals import (
    combined,
    dealt,
    information,
    shuffled_scores,
)
from brido.vote.similarity import sentence_similarity, sentence_votes


def matrix(size, seed):
    return np.random.default_rng(seed).random((size, size + 1))


def slow_z(values):
    known = [value for value in values if not math.isnan(value)]
    deviation = statistics.pstdev(known) if known else 0.0
    mean = statistics.fmean(known) if known else 0.0
    return [
        math.nan if math.isnan(value) else (value - mean) / deviation if deviation > 1e-12 else 0.0
        for value in values
    ]


SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.7, math.nan]), min_size=1, max_size=6)


@settings(max_examples=200)
@given(SCORES, st.integers(0, 99), st.floats(0.01, 0.6), st.floats(0, 0.4))
def test_signals_and_consensus_are_standardised_within_the_document(scores, seed, first, second):
    random = np.random.default_rng(seed)
    signals = [
        (weight, random.integers(0, 3, len(scores)) / 2 - shift)
        for weight, shift in ((first, 0), (second, 40))
    ]
    masked = [
        [math.nan if math.isnan(s) else v for s, v in zip(scores, values, strict=True)]
        for _, values in signals
    ]
    wanted = [
        (1 - first - second) * own + first * one + second * other
        for own, one, other in zip(slow_z(scores), *map(slow_z, masked), strict=True)
    ]
    found = combined(np.array(scores), signals)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_equal_values_of_a_document_say_nothing_whatever_the_others_say():
    """The mean of three times 0.1 is not 0.1, so its rounding has a deviation."""
    scores, signal = np.array([[0.0, 1.0, 0.5], [0.1] * 3]), np.array([[0.1] * 3, [0.0, 1.0, 0.5]])
    found = combined(scores, [(0.25, signal)])
    z = math.sqrt(1.5)
    assert found == pytest.approx(np.array([[-0.75 * z, 0.75 * z, 0], [-0.25 * z, 0.25 * z, 0]]))
    assert found[:, 2].tolist() == [0.0, 0.0]


@settings(max_examples=200)
@given(SCORES, st.integers(0, 99))
def test_the_same_scores_are_dealt_in_another_order(scores, seed):
    by = np.random.default_rng(seed).integers(0, 3, len(scores)).astype(float)
    found = dealt(np.array([scores]), by[None])[0]
    places = [place for place, score in enumerate(scores) if not math.isnan(score)]
    highest = sorted((scores[place] for place in places), reverse=True)
    order = sorted(places, key=lambda place: (-by[place], place))
    wanted = [math.nan] * len(scores)
    for place, score in zip(order, highest, strict=True):
        wanted[place] = score
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-300)
    # Ties of the scores do not hide the order: only candidates that are equal `by` may be tied.
    ranked = [place for place in ranking(found).tolist() if place in places]
    assert ranked == order
    for first, second in pairwise(order):
        assert found[first] > found[second] or by[first] == by[second]


def test_without_weights_the_scores_are_the_paper_s_to_the_bit():
    """Dealt by themselves they are themselves, ties included."""
    scores = consensus_scores(np.round(matrix(9, 1), 1), 0)
    assert np.array_equal(dealt(scores, combined(scores, [])), scores)


@given(st.lists(st.floats(-90, 0), min_size=1, max_size=5), st.floats(0, 1))
def test_information_is_likelihood_less_a_share_of_the_prior(likelihood, weight):
    prior = [3 * value - 1 for value in likelihood]
    found = information(np.array(likelihood), np.array(prior), weight)
    wanted = [own - weight * other for own, other in zip(likelihood, prior, strict=True)]
    assert found.tolist() == pytest.approx(wanted)
    sizes = np.arange(len(prior))
    # Without a penalty it is a sum.
    assert information(np.array(likelihood), np.array(prior), weight, sizes).tolist() == (
        found.tolist()
    )
    for penalty in (0.0, 0.5, 1.0, -1):
        divided = information(np.array(likelihood), np.array(prior), weight, sizes, penalty)
        # A text without tokens is divided by 1.
        slow = [
            value / max(float(size), 1) ** penalty
            for value, size in zip(wanted, sizes, strict=True)
        ]
        assert divided.tolist() == pytest.approx(slow)


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.3, math.nan]), min_size=1, max_size=6),
    st.text(max_size=4),
)
def test_the_control_has_the_same_scores_in_an_order_that_the_name_decides(scores, name):
    (found,) = shuffled_scores(np.array([scores]), [name])
    assert np.array_equal(np.isnan(found), np.isnan(scores))
    assert sorted(found[~np.isnan(found)]) == sorted(v for v in scores if not math.isnan(v))
    places = [place for place, value in enumerate(scores) if not math.isnan(value)]
    lots = [blake2b(f"{n} {name}".encode()).digest() for n in range(len(places))]
    for place, source in zip(places, np.argsort(np.array(lots, object)), strict=True):
        assert found[place] == scores[places[source]]
    twice = shuffled_scores(np.array([[0.0] * len(scores), scores]), ["x", name])
    assert np.array_equal(twice[1], found, equal_nan=True)


def slow_sentence_similarity(values, rows, columns, size):
    result = [[0.0] * (size + 1) for _ in range(size)]
    for i in range(size):
        for j in range(size + 1):
            own = [t for t, owner in enumerate(rows) if owner == i]
            other = [u for u, owner in enumerate(columns) if owner == j]
            if own and other:
                best = [max(values[t][u] for u in other) for t in own]
                result[i][j] = sum(best) / len(best)
    return result


@settings(max_examples=200)
@given(st.integers(1, 5), st.integers(0, 9), st.integers(0, 99))
def test_sentences_vote_for_their_best_match(size, sentences, seed):
    generator = np.random.default_rng(seed)
    rows = np.sort(generator.integers(0, size, sentences))
    columns = np.concatenate([rows, [size] * (seed % 3)]).astype(int)
    values = generator.random((len(rows), len(columns)))
    found = sentence_similarity(values, rows, columns, size)
    np.testing.assert_allclose(found, slow_sentence_similarity(values, rows, columns, size))


def test_texts_vote_by_their_sentences():
    texts = ["A cat sat. The dog ran away.", "The dog ran. A cow lay.", "A cat sat.", ""]
    reference = "A cat sat down. Nobody ran."
    (found,) = sentence_votes([texts], [reference], "harmonic_r1_r2")
    split = [["A cat sat.", "The dog ran away."], ["The dog ran.", "A cow lay."], ["A cat sat."]]
    split += [[], ["A cat sat down.", "Nobody ran."]]
    for i in range(4):
        for j in range(5):
            wanted = 0.0
            if split[i] and split[j]:
                best = [
                    max(
                        float(similarity_matrix([a, b], "", "harmonic_r1_r2")[0, 1])
                        for b in split[j]
                    )
                    for a in split[i]
                ]
                wanted = sum(best) / len(best)
            if i != j:
                assert found[i, j] == pytest.approx(wanted)
