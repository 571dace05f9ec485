"""Clean-up and sentence splitting."""

import pytest

from brido.utils.text import clean, one_sentence_a_line, split_sentences


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
