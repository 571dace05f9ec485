"""Unsupported mentions: exact on the world, rules on other text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brido.checkers.mentions import text_mentions
from brido.corpus.settings import WorldSettings
from brido.evaluation import Inputs
from brido.evaluation.mentions import METRIC, MentionsSection, kinds_of
from brido.world import document

REASONS = ("no_sentence", "repeats", "cut", "too_short", "too_long")


def measure(documents, summaries, known=None, references=("x",), **keys):
    ids = [str(index) for index in range(len(summaries))]
    inputs = Inputs(ids, documents, summaries, [list(references)] * len(summaries), known)
    return METRIC.measure(inputs, MentionsSection(**keys))


def test_on_the_world_it_may_judge_as_elsewhere():
    row = document(WorldSettings(), "test", 0)
    given = ([row["document"]], [row["summary"]])
    references = [row["summary"]]
    blind = measure(*given, [row["facts"]], references, facts=False)
    assert blind.rows == measure(*given, None, references).rows
    assert blind.rows[0]["good"] is not None
    assert measure(*given, [row["facts"]], references).rows[0]["good"] is None


@settings(max_examples=200)
@given(st.integers(0, 10**6))
def test_references_of_the_world_are_judged_as_their_facts_say(index):
    row = document(WorldSettings(), "test", index)
    result = measure([row["document"]], [row["summary"]], [row["facts"]])
    missing = {fact["value"] for fact in row["facts"] if not fact["in_document"]}
    (detail,) = result.details
    assert {each["text"] for each in detail["mentions"] if not each["supported"]} == missing
    (found,) = result.rows
    assert found["unsupported"] == bool(missing)
    types = {fact["type"] for fact in row["facts"] if not fact["in_document"]} - {"term"}
    assert found["dates"] == ("day" in types)
    assert found["numbers"] == bool(types & {"age", "number", "money"})
    assert found["names"] == bool(types & {"person", "organisation", "town", "county"})
    assert found["planted"] == ("Monday" in missing)
    assert found["other"] == bool(missing - {"Monday"})
    made = len(detail["mentions"])
    assert found["precision"] == (made - len(missing)) / made


def test_types_matter_on_the_world_and_case_is_a_setting():
    facts = [{"slot": "number", "type": "number", "value": "440", "in_document": True}]
    exact = measure(["440"], ["440 and 44."], [facts])
    kinds = {"names": 0, "numbers": 1, "dates": 0, "planted": 0, "other": 1}
    seen = {**kinds, "checked": 1, "details": 2}
    unknown = dict.fromkeys(("whole", *REASONS, "good"))
    assert exact.rows == [{"precision": 0.5, "unsupported": 1, **seen, **unknown}]
    assert "exact" in exact.signature["implementation"]
    without = measure(["Some text."], ["nothing to see"])
    kinds = {"names": 0, "numbers": 0, "dates": 0, "planted": None, "other": None}
    seen = {**kinds, "checked": 0, "details": 0}
    # Three words beside a reference of one.
    broken = {**dict.fromkeys(REASONS, 0), "too_long": 1, "whole": 0, "good": 0}
    assert without.rows == [{"precision": None, "unsupported": 0, **seen, **broken}]
    assert "approximate" in without.signature["implementation"]
    texts = ["They met ANNA ALDLOW."], ["They met Anna Aldlow."]
    (strict,), (lenient,) = (measure(*texts, case_sensitive=case).rows for case in (True, False))
    assert (strict["unsupported"], lenient["unsupported"]) == (1, 0)


def test_without_a_reference_a_copied_document_is_not_good():
    talk = "Tom Reed takes Benicar, twenty daily. " + " ".join(f"word{n}" for n in range(30)) + "."
    copied, short = measure([talk] * 2, [talk, "Tom Reed takes Benicar."], references=()).rows
    assert (copied["unsupported"], copied["whole"], copied["good"]) == (0, 0, 0)
    assert (short["unsupported"], short["whole"], short["good"]) == (0, 1, 1)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("They met Theresa May on May 5, 2011 and on 6th of June.", "2011 5 6 May June"),
        (
            "It opens at 3.30 pm or 15:45, on Monday or on 05/12/2011.",
            "3.30 15:45 05/12/2011 Monday",
        ),
        ("They paid 1,950 for 20 of 2000.5 shares in March 1999.", "1999 March"),
        ("The 1980s ended 3-1 in Sunday Town, with 12 marches.", "1980"),
    ],
)
def test_dates_of_other_texts_are_told_from_numbers_and_names(text, dates):
    found = text_mentions("", text, True)
    kinds = kinds_of(found, text, False)
    named = {one.text for one, kind in zip(found, kinds, strict=True) if kind == "dates"}
    assert named == set(dates.split())
    row = measure(["no"], [text]).rows[0]
    assert (row["dates"], row["names"]) == (1, "names" in kinds)
