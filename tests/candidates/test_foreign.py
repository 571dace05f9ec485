"""What in a candidate is foreign to its document: its script, and markup left after cleaning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brido.candidates.cleaning import clean
from brido.candidates.foreign import Foreign

ENGLISH = "The mayor of Athens met 习近平 on Monday and spoke of β cells for an hour or two."
JAPANESE = "東京の市長は月曜日に新しいAIの計画を発表した。住民はこれを歓迎している。"


@pytest.mark.parametrize(
    ("document", "text", "found"),
    [
        (ENGLISH, "The mayor met 习近平.", False),
        (ENGLISH, "市长周一会见了习近平。", True),
        (ENGLISH, "Мэр встретился с Xi.", True),
        (ENGLISH, "Der Bürgermeister sprach über β-Zellen.", False),
        (ENGLISH, "1234, 99 %!", False),
        (ENGLISH, "", False),
        (ENGLISH, "ＴＨＥ ＭＡＹＯＲ 𝐦𝐞𝐭 µ", False),
        ("Μία πόλη.", "A town.", True),
        (JAPANESE, "東京の市長が計画を発表。", False),
        # Two letters of a word in Latin script do not make it the document's.
        (JAPANESE, "The mayor announced a plan.", True),
        ("1 + 1 = 2", "Мэр", False),
        # Half of the letters is not more than half.
        ("Town", "ab дв", False),
        ("Town", "ab дву", True),
    ],
)
def test_another_script_is_one_that_the_document_is_not_written_in(document, text, found):
    assert ("other_script" in Foreign(document)(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "A cat<br>sat.", "A cat sat.</p>", '<div class="a">A cat</div>', "Cats &amp; dogs",
        "a&#39;s", r"The loss \(x\) falls", r"\textbf{Cats} sit", "We show $x_{1}$ falls",
        "print this ``` now",
        "| a | b | |---|---| | 1 | 2 |", "| cat | sat | mat |",
    ],
)  # fmt: skip
def test_markup_that_cleaning_leaves_is_counted_unless_the_document_has_it_too(text):
    left = clean(text).text
    assert Foreign("A cat sat on a mat.")(left) == ("markup_left",)
    assert Foreign(f"A cat. {text}" if "|" not in text else text)(left) == ()


@pytest.mark.parametrize(
    "text",
    [
        "p < 0.05 and x > 3", "AT&T; R&D", "It cost $5 or $6.", "a <b", "P(a|b) and |x|",
        "**A cat** sat", "# A cat", "```\nA cat\n```", "5 <3> 6", "C:/temp", "A -> B <- C",
    ],
)  # fmt: skip
def test_what_is_no_markup_or_is_cleaned_is_not_counted(text):
    assert Foreign("A cat sat.")(clean(text).text) == ()


@given(st.text(alphabet="ab \u00e9\u4e2d|<>/$\\{}`", max_size=40))
def test_no_text_is_foreign_to_itself(text):
    assert Foreign(text)(text) == ()
