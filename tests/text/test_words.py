"""Clean-up, sentence splitting, and texts in which nothing can be seen."""

import pytest

from brido.text.words import (
    clean,
    one_sentence_a_line,
    split_sentences,
    word_count,
)
from brido.utils.rows import is_blank


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Mr. Hale left. He was late.", ["Mr. Hale left.", "He was late."]),
        ("It cost 3.5 pounds. Why?", ["It cost 3.5 pounds.", "Why?"]),
        ("The U.S. team won at 5 p.m. on Monday.", ["The U.S. team won at 5 p.m. on Monday."]),
        ("One.\nTwo", ["One.", "Two"]),
        ("", []),
        ("  \n ", []),
        ("no full stop", ["no full stop"]),
    ],
)
def test_sentences(text, sentences):
    assert split_sentences(text) == sentences
    assert one_sentence_a_line(text) == "\n".join(sentences)


def test_clean_folds_white_space():
    assert clean(" a\n\tb\u00a0c  ") == "a b c"


def test_a_text_of_characters_without_a_shape_is_blank():
    fillers = "\u3164\u115f\u1160\uffa0\u2800"
    joiners = ["\ufeff\u200d", "\u2060 \u00ad\n", "\u200e\u200f"]
    for text in ("", "\u200b", "\ufe0f", *joiners, *fillers):
        assert is_blank(text)
        assert not is_blank(f"{text}a")
    for text in ("a", "语", "อ", "नि", "\U0001f600", "!", "e\u0301", "\u200bא"):
        assert not is_blank(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("Two cats, well-fed.", 3), ("東京で三人が死亡、警察が調べた。", 14),
     ("यह एक किताब है।", 4), ("Кот, 2 года", 3), ("猫が 2匹 — cat", 6),
     ("ខ្មែរ", 3), ("မြန်မာ", 3), ("ລາວ", 3), ("二〇〇四年", 5)],
)  # fmt: skip
def test_words_are_counted_in_scripts_with_and_without_spaces(text, count):
    assert word_count(text) == count
