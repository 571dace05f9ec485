"""Numbers as people write and say them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.checkers.mentions import text_mentions
from brido.checkers.numbers import known_numbers, language_of, numbers_of


@pytest.mark.parametrize(
    ("document", "summary", "supported"),
    [
        ("I am fifty five.", "He is 55.", True),
        ("It cost 1.200.000 million.", "1.200.000 million it was.", True),
        ("It cost 1.200.000 million.", "1.200.001 million it was.", False),
        ("Es waren 1,200,000 million und nicht 2.", "1,200,000 million sind es.", True),
        ("\ud83d is fifty five.", "\ud83d is 55.", True),
        ("Born in nineteen eighty three.", "Born in 1983.", True),
        ("On August tenth two thousand and four.", "On 08/10/2004.", True),
        ("On August tenth two thousand and four.", "On 09/10/2004.", False),
        ("She is five foot three.", "She is 5'3\".", True),
        ("One twenty over eighty.", "It was 120/80.", True),
        ("It was one o two point six.", "It was 102.6.", True),
        ("A thirty-seven-year-old man.", "A 37y/o man.", True),
        ("It was 1.5 million.", "It was 1,500,000.", True),
        ("It was 3.50 euros.", "It was 3.5 euros.", True),
        ("It was 35 euros.", "It was 3,5 euros.", False),
        ("It was 12 000 euros.", "It was 12,000 euros.", True),
        ("Come on May 5th.", "Come on 5 May.", True),
        ("Three men came.", "There were 3 men.", True),
        ("It lasted a week.", "It lasted 1 week.", True),
        ("Der Wert ist 3,5 und nicht 4.", "Der Wert ist 3,50.", True),
        ("Es waren 1.500 und nicht 2.", "Es sind 1500.", True),
        ("Es waren 1.500 und nicht 2.", "Es sind 1,5 und nicht 2.", False),
        ("Es waren fünfundfünfzig und nicht 2.", "Es sind 55.", True),
    ],
)
def test_a_number_is_the_same_however_it_is_written(document, summary, supported):
    found = [one for one in text_mentions(document, summary, True) if one.type == "number"]
    assert found
    assert all(one.supported for one in found) == supported


def test_signs_of_a_list_are_no_numbers():
    text = "1.  Hypertension. 2. Asthma since 2004. 3) See me. On 4. May it rained. 9. It ended."
    assert [text[one.start : one.end] for one in numbers_of(text)] == ["2004", "9"]


@pytest.mark.parametrize(
    ("text", "language"),
    [("Das ist der Wert", "de"), ("le chat est dans la rue", "fr"), ("3.5", "en"), ("", "en")],
)
def test_the_language_is_told_by_its_small_words(text, language):
    assert language_of(text) == language


@given(st.integers(0, 10**9))
def test_a_number_has_itself(value):
    assert all(text_mentions(f"It was {value:,}.", f"It is {value}.", True)[0][2:3])
    assert str(value) in known_numbers(f"It was {value}.")


@given(st.text(alphabet="19.,:/- oneand\n%x", max_size=40))
def test_every_number_of_any_text_stands_where_it_says(text):
    for one in numbers_of(text):
        assert 0 <= one.start < one.end <= len(text)
        assert one.values
