"""Coverage, density, novel n-grams and compression against arithmetic and a slow oracle."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.evaluation.extractiveness import fragment_lengths, measure

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def slow_fragments(document, summary):
    """Figure 3 of the paper, word by word."""
    lengths, i = [], 0
    while i < len(summary):
        best = 0
        for j in range(len(document)):
            k = 0
            while (
                i + k < len(summary) and j + k < len(document) and summary[i + k] == document[j + k]
            ):
                k += 1
            best = max(best, k)
        if best:
            lengths.append(best)
        i += max(best, 1)
    return lengths


@settings(max_examples=400)
@given(WORDS, WORDS)
def test_fragments_equal_the_slow_version(document, summary):
    assert fragment_lengths(document, summary) == slow_fragments(document, summary)


def test_by_hand():
    row = measure("the cat sat on the mat today", "A cat sat on mat today.")
    # Words: a | cat sat on | mat today; fragments of 3 and 2 words.
    assert row == {
        "coverage": 5 / 6,
        "density": (9 + 4) / 6,
        "novel_ngrams": 2 / 5,  # (a, cat) and (on, mat)
        "compression": 7 / 6,
        "length": 6,
    }


@pytest.mark.parametrize(
    ("document", "summary", "words"),
    [
        ("यह एक छोटी बिल्ली है", "एक बिल्ली", 2),  # vowel signs are parts of their words
        ("猫が家で寝ている", "犬が家で", 4),  # no spaces: a character is a word
        ("Un e\u0301te\u0301 chaud", "\u00e9t\u00e9 froid", 2),  # composed and not
    ],
)
def test_words_of_other_scripts(document, summary, words):
    row = measure(document, summary)
    copied = {"एक बिल्ली": (1, 1), "犬が家で": (3 / 4, 9 / 4), "été froid": (1 / 2, 1 / 2)}
    assert (row["coverage"], row["density"]) == copied[summary]
    assert row["length"] == words


@pytest.mark.parametrize("summary", ["", " ", "..."])
def test_nothing_to_measure(summary):
    row = measure("a b", summary)
    assert row.pop("length") == len(summary.split())
    assert set(row.values()) == {None}
    assert measure("a b", "a")["novel_ngrams"] is None
