"""Numbers and names of any text, found by rules."""

import pytest

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
    assert capitalised_spans(sentence) == spans


def test_text_mentions():
    source = "Angela Merkel paid 1,200 euros in Paris on the 4th, for 3.5 tons; Merkel's choice."
    summary = "Merkel paid 1200 euros. Angela Merkel saw Rome on the 5th. It cost 3.5 in Paris."
    found = {(kind, text): good for kind, text, good in text_mentions(source, summary, True)}
    assert found == {
        ("number", "1200"): True,
        ("number", "5th"): False,
        ("number", "3.5"): True,
        ("name", "Angela Merkel"): True,
        ("name", "Rome"): False,
        ("name", "Paris"): True,
    }


def test_names_match_whole_words_in_order():
    assert text_mentions("Parisian Merkel Angela", "She saw Paris and Angela Merkel", True) == [
        ("name", "Paris", False),
        ("name", "Angela Merkel", False),
    ]
