"""ROUGE with words of every script: equal to rouge_score with the same tokenizer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from brido.rouge import rouge_matrix
from brido.text.words import (
    UnicodeTokenizer,
    words,
)

MEASURES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
_SPACED = """lorries lorry hitting 0q1 0q0s 00q2ed q12 2024 naïve naïves Straße ﬁn ２０２４ x_y İ Ⅷ
книга книги КНИГА कुत्ता कुत्ते الكتاب ספר 한국어 Ἀθῆναι 狗 猫和狗 ねこ ガ สุนัข ຫມາ ខ្មែរ ၁၂ 𠮷"""
WORDS = [
    *_SPACED.split(),
    *("مي\u200cخواهم", "カ\u3099", "\ud800", "\n", "\n", ".", "。", "!", "\u0301", "\u200b"),
]
TEXT = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=12)


def slow(predictions, targets, use_stemmer):
    """rouge_score's numbers with the tokenizer in its hook."""
    scorer = RougeScorer(MEASURES, use_stemmer=use_stemmer, tokenizer=UnicodeTokenizer(use_stemmer))
    found = {name: np.zeros((len(predictions), len(targets))) for name in MEASURES}
    for row, prediction in enumerate(predictions):
        for column, target in enumerate(targets):
            for name, score in scorer.score(target, prediction).items():
                found[name][row, column] = score.fmeasure
    return found


@settings(max_examples=150)
@given(
    st.lists(TEXT, min_size=1, max_size=4), st.lists(TEXT, min_size=1, max_size=3), st.booleans()
)
def test_every_number_is_rouge_scores_with_this_tokenizer(predictions, targets, use_stemmer):
    predictions, targets = (
        [text.encode("utf-8", "replace").decode() for text in texts]
        for texts in (predictions, targets)
    )
    found = rouge_matrix(predictions, targets, MEASURES, use_stemmer, tokenizer="unicode")
    for name, expected in slow(predictions, targets, use_stemmer).items():
        assert np.array_equal(found[name], expected), name


@settings(max_examples=60)
@given(st.lists(st.text(st.characters(codec="ascii"), max_size=20), min_size=1, max_size=3))
def test_texts_of_ascii_have_the_numbers_of_the_default(texts):
    default = rouge_matrix(texts, texts, MEASURES)
    found = rouge_matrix(texts, texts, MEASURES, tokenizer="unicode")
    assert all(np.array_equal(found[name], default[name]) for name in MEASURES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Две кошки, 2 собаки!", "две кошки 2 собаки"),
        ("猫が2匹。", "猫 が 2 匹"),
        ("किताब नहीं है।", "किताब नहीं है"),
        ("هذا كتابٌ جديد؟", "هذا كتابٌ جديد"),
        ("ภาษาไทย", "ภ า ษ า ไ ท ย"),
        ("ที่นี่", "ที่ นี่"),
        ("café cafe\u0301", "café café"),
        ("می\u200cخواهم", "میخواهم"),
        ("snake_case İ", "snake case i̇"),
        ("한국어 텍스트", "한국어 텍스트"),
        ("ＡＢＣ１２", "abc12"),
        ("\u0301x", "x"),
        ("", ""),
    ],
)
def test_words_of_scripts(text, expected):
    assert words(text) == expected.split()
