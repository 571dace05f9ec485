"""A look at candidates: which are odd, and when they are not a basis for a vote."""

import pytest

from brido.candidates.cleaning import clean
from brido.candidates.look import Example, Look, OddOnes, example_lines

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
        # A tenth of its letters is enough to be a document's script.
        ("Nine towns д", "дву", False),
        ("Nine towns s д", "дву", True),
    ],
)
def test_another_script_is_one_that_the_document_is_not_written_in(document, text, found):
    assert ("other_script" in OddOnes(document)(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        '<div class="a">A cat</div>', "a&#39;s", r"The loss \(x\) falls", r"\textbf{Cats}",
        "We show $x_{1}$ falls", "print ``` now", "| a | b | |---|---| | 1 | 2 |", "| cat | sat |",
    ],
)  # fmt: skip
def test_markup_that_cleaning_leaves_is_counted_unless_the_document_has_it_too(text):
    left = clean(text).text
    assert OddOnes("A cat sat on a mat.")(left) == ("markup_left",)
    assert OddOnes(f"A cat. {text}" if "|" not in text else text)(left) == ()


@pytest.mark.parametrize(
    "text",
    [
        "p < 0.05 and x > 3", "AT&T; R&D", "It cost $5 or $6.", "a <b", "P(a|b) and |x|",
        "**A cat** sat", "# A cat", "```\nA cat\n```", "5 <3> 6", "C:/temp", "A -> B <- C",
    ],
)  # fmt: skip
def test_what_is_no_markup_or_is_cleaned_is_not_counted(text):
    assert OddOnes("A cat sat.")(clean(text).text) == ()


REFERENCE = "The mayor of Athens met a delegation on Monday and spoke for an hour."
GOOD = [
    "The mayor of Athens met a delegation and spoke for an hour.",
    "A delegation met the mayor on Monday, who spoke for an hour.",
    "Athens: the mayor spoke to a delegation on Monday.",
    "On Monday a delegation was met by the mayor of Athens.",
]


def looked_at(candidates, ended=None, references=(REFERENCE,), documents=24):
    """A look at `documents` documents with the same candidates."""
    look = Look()
    for _ in range(documents):
        flags = [True] * len(candidates) if ended is None else ended
        look.add(Example(ENGLISH, references, candidates, flags))
    return look


@pytest.mark.parametrize("method", ["diverse_beam", "sampling", "endpoint", "files", "mine"])
@pytest.mark.parametrize("references", [(REFERENCE,), (), ("",)])
def test_good_candidates_are_not_warned_about(method, references):
    assert looked_at(GOOD, references=references).warning("own", method) is None
    # One cut candidate in five is not yet too many.
    assert looked_at([*GOOD, "One"], [True] * 4 + [False]).warning("own", method) is None
    assert Look().warning("own", method) is None
    # Without references lengths are not compared.
    assert looked_at([text * 9 for text in GOOD], references=()).warning("own", method) is None
    assert "80% ended" in looked_at([*GOOD, "One"], [True] * 4 + [False]).summary()


@pytest.mark.parametrize(
    ("method", "candidates", "ended", "expected"),
    [
        ("diverse_beam", GOOD, [True, False, False, False], "generation.own.max_length"),
        ("endpoint", GOOD, [False] * 4, "generation.own.max_answer_tokens"),
        ("files", GOOD, [False] * 4, "generation.own.files"),
        ("mine", GOOD, [False] * 4, "generation.own)"),
        ("diverse_beam", [GOOD[0]] * 4, None, "generation.own.diversity_penalty"),
        ("sampling", [GOOD[0]] * 4, None, "generation.own.temperature"),
        ("sampling", [*GOOD[:2]] * 8, None, "2.0 of 16"),
        ("sampling", [text[:9] for text in GOOD], None, "less than half as long"),
        ("sampling", [text * 4 for text in GOOD], None, "more than twice as long"),
        ("sampling", ["Мэр Афин встретился с делегацией и говорил.", *GOOD[:3]], None, "script"),
        ("endpoint", [f"<p>{text}" for text in GOOD], None, "reading"),
    ],
)
def test_a_warning_names_the_cause_and_the_key(method, candidates, ended, expected):
    assert expected in looked_at(candidates, ended).warning("own", method)


def test_half_and_twice_the_reference_half_of_the_candidates_and_seven_documents_are_no_cause():
    look = looked_at(["a" * 10, "b" * 40], references=["c" * 20])
    assert look.counts["too_short"] == look.counts["too_long"] == 0
    assert looked_at([*GOOD[:2], "One.", "Two."]).warning("own", "files") is None
    assert looked_at([*GOOD[:2], "One.", "Two.", "No."]).warning("own", "files")
    for documents, warned in ((7, False), (8, True)):
        look = looked_at(GOOD, [False] * 4, documents=documents)
        assert bool(look.warning("own", "files")) == warned


def test_an_example_is_printed_safely_in_a_line_each():
    texts = ["a\nb\x1b[31m\u202e", "x" * 9999, "", "not shown"]
    lines = list(example_lines(Example("d", ["One.", "Two."], texts, [True, False, True, True])))
    assert len(lines) == 4
    assert "One." in lines[0]
    assert all(line.isprintable() and len(line) < 250 for line in lines)
    assert "did not end" in lines[2]
    assert len(list(example_lines(Example("d", [], texts[:2], [True, True])))) == 2


def test_hostile_texts_are_looked_at_in_linear_work():
    # A rule that goes back over the text for every character would take minutes.
    for text in ("$a" + "^" * 300_000, "<a " * 100_000, "|   " * 75_000, "|-" * 150_000):
        OddOnes("A cat.")(text)
