"""A look at candidates: when they are not a basis for a vote."""

import pytest

from brido.candidates.look import Example, Look, example_lines, looks_english

ENGLISH = "The mayor of Athens met 习近平 on Monday and spoke of β cells for an hour or two."


@pytest.mark.parametrize(
    ("text", "english"),
    [
        (ENGLISH, True),
        ("Der Bürgermeister sprach am Montag in Athen über die Zellen und das Wasser.", True),
        ("Der Bürgermeister von Athen sprach am Montag eine Stunde lang über Zellen.", False),
        ("東京の市長は月曜日に新しいAIの計画を発表した。", False),
        (" ".join(["word"] * 29 + ["the"]), True),
        (" ".join(["word"] * 30 + ["the"]), False),
        ("", True),
    ],
)
def test_english_is_told_by_its_commonest_words(text, english):
    assert looks_english(text) == english


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
        ("endpoint", [text[:9] for text in GOOD], None, "reading"),
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
