"""brido.rouge equals rouge_score 0.1.2 to the last bit, both directions, whatever the text."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from brido.rouge import counts, pairwise, rouge_matrix, similarity_batch, similarity_matrix
from brido.utils.errors import BridoError

MEASURES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
SCORERS = {stemmed: rouge_scorer.RougeScorer(MEASURES, stemmed) for stemmed in (False, True)}

# Words that meet: stems that agree, 16 letters and more that agree in the first 16, the two
# characters whose lower case falls into ASCII, digits, marks inside words.
_PLAIN = "a the was wa cat cats Cat run running runs ran generalization generalizations"
WORDS = [
    *_PLAIN.split(),
    *("abcdefghijklmnop", "abcdefghijklmnopq", "abcdefghijklmnopr", "x" * 70, "x" * 69 + "y"),
    *("İstanbul", "istanbul", "\u212aelvin", "kelvin", "café", "2nd", "don't", "U.S.", "ß", "ﬁne"),
    *("日本", "\ud800", "3.5", "-", "..."),
]
SEPARATORS = [" ", "\n", "\n\n", ". ", ".\n", "\t", "\r\n", "\u2028", "\x00", "\xff"]


def texts(words, most, separators=SEPARATORS):
    token = st.tuples(st.sampled_from(words), st.sampled_from(separators))
    return st.lists(token, max_size=most).map(lambda parts: "".join(itertools.chain(*parts)))


TEXT = st.one_of(
    texts(WORDS, 12),
    texts(WORDS[:4], 80, [" ", " ", " ", "\n"]),
    texts(WORDS[:3], 200, [" "]),
    texts(WORDS, 150, [" ", "\n"]),
    st.text(max_size=30),
    st.sampled_from(["", " ", "\n", "...", "\n\n.\n", "a", "\na\n"]),
)


def check(predictions, targets, stemmed=True):
    """Every measure, value and pair against rouge_score."""
    found = {
        value: rouge_matrix(predictions, targets, MEASURES, stemmed, value)
        for value in ("fmeasure", "precision", "recall")
    }
    for (i, prediction), (j, target) in itertools.product(
        enumerate(predictions), enumerate(targets)
    ):
        expected = SCORERS[stemmed].score(target, prediction)
        for value, measure in itertools.product(found, MEASURES):
            assert found[value][measure][i, j] == getattr(expected[measure], value)


@settings(max_examples=120)
@given(
    st.lists(TEXT, min_size=1, max_size=4), st.lists(TEXT, min_size=1, max_size=3), st.booleans()
)
def test_every_value_equals_rouge_score(predictions, targets, stemmed):
    check(predictions, targets, stemmed)
    check(targets, predictions, stemmed)


@pytest.mark.parametrize("tokens", [1, 30, 31, 32, 62, 63, 64, 65, 127, 128, 191, 2000])
def test_sentences_around_the_limits_of_the_bits(tokens):
    generator = np.random.default_rng(tokens)
    predictions = [
        " ".join(generator.choice(["a", "b", "c", "d"], n)) for n in (7, min(tokens, 200))
    ]
    target = " ".join(generator.choice(["a", "b", "c", "e"], tokens))
    check(predictions, [target])
    check([target], predictions)


@pytest.mark.parametrize("words", [30, 31, 32, 62, 63, 64, 130])
def test_gaps_between_words_that_two_sentences_share(words):
    gap = "x " * words
    check(["a b", "b a"], [f"a {gap}b", f"{gap}a {gap}b {gap}"])
    # Behind the gap the path meets the second of two words; two sentences mark it once.
    check(["a b\na", "a\nb a b"], [f"a a {gap}b", f"a b a {gap}b"])


def test_a_sentence_that_a_text_repeats_counts_each_time():
    check(["a b a\na b a\nc", "a b\nb a"], ["a b a\nx\na b a", "a b a\na b a"])


def test_the_direction_matters():
    """Row = prediction, column = target, with references and among candidates alike."""
    texts = ["c c", "c\nc"]
    matrix = similarity_matrix(texts, "c", "mean_r1_r2_rlsum")
    r1, r2, lsum = (rouge_matrix(texts, texts, [m])[m] for m in ("rouge1", "rouge2", "rougeLsum"))
    expected = np.mean([r1, r2, lsum], axis=0).astype(np.float32)
    assert expected[0, 1] > expected[1, 0]
    assert matrix[0, 1] == expected[0, 1]
    assert matrix[1, 0] == expected[1, 0]


def test_tiles_of_a_large_matrix_fit_together(monkeypatch):
    words = ["a", "b", "cats", "cat", "dog"]
    generator = np.random.default_rng(1)
    parts = [" ".join(generator.choice(words, 9)) for _ in range(23)]
    whole = rouge_matrix(parts, parts[:17], MEASURES)
    monkeypatch.setattr(pairwise, "_TILE_TEXTS", 5)
    monkeypatch.setattr(pairwise, "_TILE_LETTERS", 70)
    tiled = rouge_matrix(parts, parts[:17], MEASURES)
    for measure in MEASURES:
        assert np.array_equal(whole[measure], tiled[measure])


def r_of_a_pair(prediction, target, combination, value):
    """The pair's similarity from rouge_score's numbers, as the method's description has it."""
    scores = SCORERS[True].score(target, prediction)

    def combined(kind):
        r1, r2, lsum = (getattr(scores[m], kind) for m in ("rouge1", "rouge2", "rougeLsum"))
        if combination == "mean_r1_r2_rlsum":
            return (r1 + r2 + lsum) / 3
        return 2 * r1 * r2 / (r1 + r2) if r1 + r2 > 0 else 0.0

    if value == "mean_f_precision":
        return (combined("fmeasure") + combined("precision")) / 2
    return combined(value)


@settings(max_examples=60)
@given(
    st.lists(TEXT, min_size=1, max_size=5),
    TEXT,
    st.sampled_from(["harmonic_r1_r2", "mean_r1_r2_rlsum"]),
    st.sampled_from(["fmeasure", "precision", "recall", "mean_f_precision"]),
)
def test_similarity_is_the_combination_rounded_once(candidates, reference, combination, value):
    similarity = similarity_matrix(candidates, reference, combination, value)
    size = len(candidates)
    assert similarity.shape == (size, size + 1)
    assert similarity.dtype == np.float32
    for i, j in itertools.product(range(size), range(size + 1)):
        target = [*candidates, reference][j]
        expected = 0.0 if i == j else r_of_a_pair(candidates[i], target, combination, value)
        assert similarity[i, j] == np.float32(expected)


def documents(count, size=6):
    generator = np.random.default_rng(count)
    made = [
        [" ".join(generator.choice(WORDS[:15], n)) for n in generator.integers(0, 40, size + 1)]
        for _ in range(count)
    ]
    return [texts[:-1] for texts in made], [texts[-1] for texts in made]


@pytest.mark.parametrize("combination", ["harmonic_r1_r2", "mean_r1_r2_rlsum"])
def test_a_batch_is_its_documents_whatever_the_threads(combination):
    candidates, references = documents(150)
    single = [
        similarity_matrix(texts, reference, combination)
        for texts, reference in zip(candidates, references, strict=True)
    ]
    for threads in (1, 2, 5):
        batch = similarity_batch(candidates, references, combination, threads)
        assert np.array_equal(batch, single)


def test_sentences_above_the_bound_are_refused_and_other_measures_are_not(monkeypatch):
    monkeypatch.setattr(counts, "MOST_UNITS", 130)
    texts = ["a b " * 32 + "a", "b c"]  # 65 words are two units
    assert rouge_matrix(texts[:1], texts[:1], ["rougeL", "rougeLsum"])["rougeL"].all()
    assert rouge_matrix(texts, [texts[0].replace("b", "b\n")], ["rougeLsum"])["rougeLsum"].all()
    texts[0] += " a"
    with pytest.raises(BridoError, match="66 words"):
        rouge_matrix(texts[1:], texts)
    assert rouge_matrix(texts, texts, ["rouge1", "rouge2"])["rouge1"].all()
