"""Numbers and names of any text, found by rules."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brido.checkers.mentions import capitalised_spans, text_mentions


@pytest.mark.parametrize(
    ("sentence", "spans"),
    [
        ("The mayor of Paris met Angela Merkel.", ["Paris", "Angela Merkel"]),
        ("Paris is old.", []),
        ("The United Nations met.", ["United Nations"]),
        ("He met Anna's friend Tom, Ben and Liz.", ["Anna", "Tom", "Ben", "Liz"]),
        ("Anna, Ben met.", ["Ben"]),
        ("Hello, I'm glad that I came and I’ve met Anna.", ["Anna"]),
        ("I'm here, and Elizabeth I was.", ["Elizabeth I"]),
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
        ("number", "5"): False,
        ("number", "3.5"): True,
        ("name", "Merkel"): True,
        ("name", "Angela Merkel"): True,
        ("name", "Rome"): False,
        ("name", "Paris"): True,
    }


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Zoë Müller", "Zoe\u0308 Mu\u0308ller"),
        ("Ann Griffin", "Ann Gri\ufb03n"),
        ("Ann Oakdale", "Ann Oak\u00addale"),
        ("Ann Leeds", "Ann\u200f Le\u2060eds\ufeff"),
    ],
)
@pytest.mark.parametrize("case_sensitive", [True, False])
def test_a_name_is_found_however_its_letters_are_encoded(first, second, case_sensitive):
    for document, summary in ((first, second), (second, first)):
        text = f"On foot {summary} left. {summary.split()[-1]} stays."
        found = text_mentions(f"It was {document}.", text, case_sensitive)
        assert [one.supported for one in found] == [True, True]
        assert all(text[one.start : one.end] == one.text for one in found)
        assert not any(one.supported for one in text_mentions("It was Tim.", text, case_sensitive))
    turns = f"{second.split()[-1]}: it rains."
    assert [one[1:3] for one in text_mentions(turns, f"{first.split()[-1]} left.", True)] == [
        (first.split()[-1], True)
    ]


@example("B’s-A")
@given(st.text(alphabet="AB ab1.,'’s\n-", max_size=60))
def test_every_mention_of_any_text_stands_where_it_says(text):
    for one in text_mentions("A source.", text, True):
        shown, words = (re.split(r"[\s-]", part) for part in (text[one.start : one.end], one.text))
        assert [word.removesuffix("'s").removesuffix("’s") for word in shown] == words


def told(document: str, summary: str, case_sensitive: bool = True) -> list[tuple[str, str, bool]]:
    return [one[:3] for one in text_mentions(document, summary, case_sensitive)]


def test_what_stands_for_a_name_counts_in_nothing():
    source = "#Person1#: Where is [NAME]? #Person2#: In <LOCATION_2>.\nDoctor: Yes."
    summary = "#Person1# asks #Person3#, and [NAME] is in <LOCATION_1>. The Doctor said 2."
    assert told(source, summary) == [("number", "2", True)]
    assert told("Anna: Hi.", "So Anna waves to the Patient.") == [("name", "Anna", True)]


@pytest.mark.parametrize(
    ("document", "summary", "found"),
    [
        # Abbreviations that are spelled, dotted or said.
        ("He had an M R I.", "An MRI was done.", [True]),
        ("He had an M.R.I. scan.", "An MRI was done.", [True]),
        ("It was magnetic resonance imaging.", "An MRI was done.", [True]),
        ("He had a C T.", "An MRI was done.", [False]),
        # Two initials stand in many texts.
        ("Many roads.", "An MR was done.", [False]),
        # Hyphens part words, titles are no names, words of the document are no inventions.
        ("She is African American.", "An African-American woman.", [True]),
        ("He saw Doctor Lane.", "He saw Dr. Lane.", [True]),
        ("She needs physical therapy.", "She needs Physical Therapy.", [True]),
        # What begins a line, an entry of a list or what follows a colon begins a sentence.
        ("She is well.", "Constitutional: Negative. 1. Headache. 2. Denies pain.\nSee me.", []),
    ],
)
def test_ways_to_write_a_name(document, summary, found):
    assert [one[2] for one in told(document, summary) if one[0] == "name"] == found


@pytest.mark.parametrize(
    ("document", "summary", "found"),
    [
        # A name elsewhere in the text, or in the document, or the speaker of a turn.
        ("It rained.", "Colham is wet. It is Colham.", [False, False]),
        ("It rained in Colham.", "Colham is wet.", [True]),
        ("Anna: It rained. Ben: So it did.", "Anna saw rain.", [True]),
        ("It rained in Colham.", "Rain fell.", []),
        ("Rain fell. Rain: water.", "Rain fell.", [True]),
    ],
)
def test_first_words_that_are_names_elsewhere_are_checked(document, summary, found):
    assert [one[2] for one in told(document, summary)] == found


@pytest.mark.parametrize(
    ("document", "summary", "supported"),
    [
        ("Come at 3:30.", "They meet at 3.30 pm.", True),
        ("Come at 03:30pm.", "They meet at 3.30 pm.", True),
        ("Come at 3 pm.", "They meet at 3pm.", True),
        ("Come at 3:45.", "They meet at 3.30 pm.", False),
        ("It cost 3.30 euros.", "They meet at 3:30.", False),
        ("It cost 3:30.", "It cost 3.30 euros.", False),
    ],
)
def test_times_of_day_in_other_words(document, summary, supported):
    (mention,) = [one for one in told(document, summary) if one[0] == "number"]
    assert mention[2] == supported
