"""From pieces back to the text: the released alignment, rule by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.evaluation.qafacteval.contexts import basic_tokens, join_pieces, original_text


def test_basic_tokens_lower_case_no_accents_punctuation_apart():
    assert basic_tokens("Dr. Élan O'Neil\xa0won 東京!") == [
        "dr", ".", "elan", "o", "'", "neil", "won", "東", "京", "!",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["super", "##jumbo", "jet"], "superjumbo jet"),
        (["ann", ",", "34"], "ann , 34"),
        (["##jumbo", "jet"], "##jumbo jet"),
    ],
)
def test_join_pieces(pieces, expected):
    assert join_pieces(pieces) == expected


@pytest.mark.parametrize(
    ("found", "original", "expected"),
    [
        ("steve smith", "Steve Smith's", "Steve Smith"),
        ("dan", "Dan!", "Dan"),
        ("elan", "Élan,", "Élan"),
        ("o ' neil", "O'Neil's", "O'Neil"),
        ("1 , 200", "$1,200.", "1,200"),
        # Not found in the basic tokens: all of the words.
        ("##jumbo", "Superjumbo", "Superjumbo"),
        ("[UNK]", "☃!", "☃!"),
        # The lengths without spaces differ: a control character is dropped, a ligature of one
        # letter plus accent is not.
        ("dan", "Da\u0007n!", "Da\u0007n!"),
        ("", "Dan", "Dan"),
        # The first occurrence counts, even inside a longer word.
        ("an", "Dan an", "an"),
    ],
)
def test_original_text(found, original, expected):
    assert original_text(found, original) == expected


@given(st.lists(st.text("aBc,.'é", min_size=1, max_size=5), min_size=1, max_size=5), st.data())
def test_a_run_of_basic_tokens_comes_back_as_written(words, data):
    original = " ".join(words)
    tokens = basic_tokens(original)
    first = data.draw(st.integers(0, len(tokens) - 1))
    last = data.draw(st.integers(first, len(tokens) - 1))
    found = " ".join(tokens[first : last + 1])
    result = original_text(found, original)
    assert result in original
    assert "".join(basic_tokens(result)) == found.replace(" ", "")
