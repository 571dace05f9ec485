"""Numbers and names of any text, found by rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.checkers.mentions import capitalised_spans, text_mentions


@pytest.mark.parametrize(
    ("sentence", "spans"),
    [
        ("The mayor of Paris met Angela Merkel.", ["Paris", "Angela Merkel"]),
        ("Paris is old.", []),
        ("Angela Merkel is old.", ["Angela Merkel"]),
        ("The United Nations met.", ["United Nations"]),
        ("In London it rained.", ["London"]),
        ("He met Anna's friend Tom, Ben and Liz.", ["Anna", "Tom", "Ben", "Liz"]),
        ("Anna, Ben met.", ["Ben"]),
        ("nothing here", []),
        ("", []),
    ],
)
def test_capitalised_spans(sentence, spans):
    found = capitalised_spans(sentence)
    assert [words for words, _, _ in found] == spans
    assert all(sentence[start:end] == words for words, start, end in found)


def test_text_mentions():
    source = "Angela Merkel paid 1,200 euros in Paris on the 4th, for 3.5 tons; Merkel's choice."
    summary = "Merkel paid 1200 euros. Angela Merkel saw Rome on the 5th. It cost 3.5 in Paris."
    mentions = text_mentions(source, summary, True)
    found = {(one.type, one.text): one.supported for one in mentions}
    assert all(summary[one.start : one.end] == one.text for one in mentions)
    assert found == {
        ("number", "1200"): True,
        ("number", "5th"): False,
        ("number", "3.5"): True,
        ("name", "Angela Merkel"): True,
        ("name", "Rome"): False,
        ("name", "Paris"): True,
    }


def test_names_match_whole_words_in_order():
    found = text_mentions("Parisian Merkel Angela", "She saw Paris and Angela Merkel", True)
    assert [one[:3] for one in found] == [
        ("name", "Paris", False),
        ("name", "Angela Merkel", False),
    ]


def test_a_possessive_stands_in_a_span_or_behind_it():
    text = "Nobody came. It was  Ms Vane's Elm team, or Bo Ek's."
    assert [text[one.start : one.end] for one in text_mentions("", text, True)] == [
        "Ms Vane's Elm",
        "Bo Ek",
    ]


@settings(deadline=None)
@given(st.text(alphabet="AB ab1.,'’s\n-", max_size=60))
def test_every_mention_of_any_text_stands_where_it_says(text):
    for one in text_mentions("A source.", text, True):
        shown = text[one.start : one.end]
        assert [word.removesuffix("'s").removesuffix("’s") for word in shown.split()] == [
            *one.text.split()
        ]
