"""The votes that are not the paper's, each against its definition written out in loops."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.rouge import similarity_matrix
from brido.utils.errors import BridoError
from brido.vote.consensus import consensus_scores
from brido.vote.signals import first_of_each_text, probability_scores, supported_scores
from brido.vote.similarity import sentence_similarity, sentence_votes

TEXTS = st.lists(st.sampled_from("abcd"), min_size=2, max_size=6)


def matrix(size, seed):
    return np.random.default_rng(seed).random((size, size + 1))


def slow_probability_scores(similarity, alpha, log_probability, texts, temperature):
    size = len(texts)
    distinct = {text: texts.index(text) for text in texts}
    weights = {text: math.exp(log_probability[j] / temperature) for text, j in distinct.items()}
    mass = sum(weights.values())
    result = []
    for i in range(size):
        voted = sum(
            weights[text] / mass * (1.0 if text == texts[i] else similarity[i][j])
            for text, j in distinct.items()
        )
        own = similarity[i][size]
        result.append(((size - 1) * voted + alpha * own) / (size - 1 + alpha))
    return result


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.integers(0, 99), st.floats(0, 50), st.sampled_from([0.3, 1.0, 4.0]))
def test_probability_votes_are_the_expected_similarity(texts, seed, alpha, temperature):
    values = matrix(len(texts), seed)
    likely = np.random.default_rng(seed).normal(-5, 3, len(texts))
    same = first_of_each_text([texts])[0]
    found = probability_scores(values, alpha, likely, same, temperature)
    wanted = slow_probability_scores(values, alpha, likely, texts, temperature)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_the_first_of_each_text():
    assert first_of_each_text([["x", "y", "x"], ["z", "z", "z"]]).tolist() == [[0, 1, 0], [0, 0, 0]]


def test_equal_voters_at_an_infinite_temperature_order_as_equation_2():
    values = matrix(7, 3)
    likely = np.random.default_rng(0).normal(size=7)
    found = probability_scores(values, 0, likely, np.arange(7), math.inf)
    # Eq. 2 and the own vote, which is the same for everybody.
    np.testing.assert_allclose(found, (6 * (consensus_scores(values, 0) * 6 + 1) / 7) / 6)


def test_the_reference_alone_and_many_documents_at_once():
    values = np.stack([matrix(5, seed) for seed in range(4)])
    likely = np.random.default_rng(1).normal(size=(4, 5))
    same = first_of_each_text([list("abcab"), list("aaaaa"), list("abcde"), list("abbbb")])
    assert np.array_equal(probability_scores(values, math.inf, likely, same), values[:, :, -1])
    together = probability_scores(values, 2.0, likely, same)
    for one, *arguments in zip(together, values, likely, same, strict=True):
        assert np.array_equal(one, probability_scores(arguments[0], 2.0, *arguments[1:]))
    assert together[1].tolist() == [together[1][0]] * 5 or values[1][:, -1].std() > 0


def test_a_missing_reference_is_not_looked_at():
    values = matrix(4, 0)
    values[:, -1] = math.nan
    assert np.isfinite(probability_scores(values, 0, np.zeros(4), np.arange(4))).all()


def slow_z(values):
    known = [value for value in values if not math.isnan(value)]
    deviation = statistics.pstdev(known) if known else 0.0
    mean = statistics.fmean(known) if known else 0.0
    return [
        math.nan if math.isnan(value) else (value - mean) / deviation if deviation > 1e-12 else 0.0
        for value in values
    ]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.7, math.nan]), min_size=1, max_size=6),
    st.integers(0, 99),
    st.floats(0.01, 1),
)
def test_support_and_consensus_are_standardised_within_the_document(scores, seed, weight):
    support = np.random.default_rng(seed).integers(0, 3, len(scores)) / 2
    masked = [math.nan if math.isnan(s) else v for s, v in zip(scores, support, strict=True)]
    wanted = [
        (1 - weight) * first + weight * second
        for first, second in zip(slow_z(scores), slow_z(masked), strict=True)
    ]
    found = supported_scores(np.array(scores), support, weight)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_without_weight_the_scores_are_the_paper_s_to_the_bit():
    scores = consensus_scores(matrix(9, 1), 0)
    assert np.array_equal(supported_scores(scores, np.zeros(9), 0.0), scores)


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


@settings(max_examples=200, deadline=None)
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


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: probability_scores(matrix(3, 0), 0, np.zeros(3), np.arange(3), 0.0),
        lambda: probability_scores(matrix(3, 0), 0, np.zeros(2), np.arange(3)),
        lambda: probability_scores(matrix(3, 0), -1, np.zeros(3), np.arange(3)),
        lambda: supported_scores(np.zeros(3), np.zeros(3), 1.5),
        lambda: supported_scores(np.zeros(3), np.zeros(2), 0.5),
        lambda: sentence_similarity(np.zeros((2, 2)), np.array([0, 3]), np.array([0, 1]), 2),
        lambda: sentence_similarity(np.zeros((2, 2)), np.array([0]), np.array([0, 1]), 2),
    ],
)
def test_what_has_no_meaning_is_refused(wrong):
    with pytest.raises(BridoError):
        wrong()
