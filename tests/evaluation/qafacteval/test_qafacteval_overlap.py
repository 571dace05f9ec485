"""The released rules for comparing two answers by their words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.evaluation.qafacteval.overlap import (
    exact_match,
    is_answered,
    is_kept,
    normalise,
    token_f1,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Court", "court"),
        ("An apple, a pear & the end.", "apple pear end"),
        ("theatre another ant", "theatre another ant"),
        ("U.S.-based", "usbased"),
        ("the-end", "theend"),
        ("“Leeds” – it’s", "“leeds” – it’s"),
        ("\ta\n", ""),
    ],
)
def test_normalise(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("answer", "prediction", "expected"),
    [
        ("The court", "court.", 1.0),
        ("Ann Smith", "Smith", 2 / 3),
        ("Ann", "Bob", 0.0),
        ("the", "", 1.0),
        ("the", "Bob", 0.0),
        ("Bob", "a", 0.0),
    ],
)
def test_token_f1(answer, prediction, expected):
    assert token_f1(answer, prediction) == pytest.approx(expected, abs=1e-12)
    assert exact_match(answer, prediction) == (expected == 1.0)


def _words(count: int, shared: int, own: str) -> str:
    return " ".join([f"s{i}" for i in range(shared)] + [f"{own}{i}" for i in range(count - shared)])


def test_the_filter_is_strict_in_the_released_order_of_floats():
    """|answer| 14, |prediction| 16, overlap 9: 18/30 by the short form, just above by this one."""
    answer, prediction = _words(14, 9, "a"), _words(16, 9, "p")
    assert 2 * 9 / (14 + 16) == 0.6
    assert token_f1(answer, prediction) > 0.6
    assert is_kept(answer, prediction, 0.9, 0.1)
    answer, prediction = _words(5, 3, "a"), _words(5, 3, "p")
    assert token_f1(answer, prediction) == 0.6
    assert not is_kept(answer, prediction, 0.9, 0.1)
    # The question must be answerable, strictly.
    assert not is_answered(0.4, 0.4)
    assert not is_kept("Leeds", "Leeds", 0.4, 0.4)
    assert is_kept("Leeds", "Leeds", 0.4, 0.39)


@given(st.lists(st.sampled_from("xyzw"), max_size=6), st.lists(st.sampled_from("xyzw"), max_size=6))
def test_f1_is_the_multiset_overlap(answer, prediction):
    left, overlap = list(prediction), 0
    for word in answer:
        if word in left:
            left.remove(word)
            overlap += 1
    if not answer or not prediction:
        expected = float(answer == prediction)
    elif overlap == 0:
        expected = 0.0
    else:
        p, r = overlap / len(prediction), overlap / len(answer)
        expected = (2 * p * r) / (p + r)
    assert token_f1(" ".join(answer), " ".join(prediction)) == expected
