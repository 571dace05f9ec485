"""Unsupported mentions: exact on the world, rules on other text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from brido.corpus.settings import WorldSettings
from brido.evaluation import Inputs
from brido.evaluation.mentions import METRIC, MentionsSettings
from brido.world import document


def measure(documents, summaries, facts=None, case_sensitive=True, references=("x",)):
    ids = [str(index) for index in range(len(summaries))]
    inputs = Inputs(ids, documents, summaries, [list(references)] * len(summaries), facts)
    return METRIC.measure(inputs, MentionsSettings(case_sensitive=case_sensitive))


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
    made = len(detail["mentions"])
    assert found["precision"] == (made - len(missing)) / made


def test_types_matter_on_the_world_and_case_is_a_setting():
    facts = [{"slot": "number", "type": "number", "value": "440", "in_document": True}]
    exact = measure(["440"], ["440 and 44."], [facts])
    seen = {"checked": 1, "details": 2}
    unknown = {"whole": None, "good": None}
    assert exact.rows == [{"precision": 0.5, "unsupported": 1, **seen, **unknown}]
    assert "exact" in exact.signature["implementation"]
    without = measure(["Some text."], ["nothing to see"])
    seen = {"checked": 0, "details": 0}
    assert without.rows == [{"precision": None, "unsupported": 0, **seen, "whole": 0, "good": 0}]
    assert "approximate" in without.signature["implementation"]
    texts = ["they met anna aldlow"], ["They met Anna Aldlow."]
    (strict,), (lenient,) = (measure(*texts, case_sensitive=case).rows for case in (True, False))
    assert (strict["unsupported"], lenient["unsupported"]) == (1, 0)


def test_without_a_reference_a_copied_document_is_not_good():
    talk = "Tom Reed takes Benicar, twenty daily. " + " ".join(f"word{n}" for n in range(30)) + "."
    copied, short = measure([talk] * 2, [talk, "Tom Reed takes Benicar."], references=()).rows
    assert (copied["unsupported"], copied["whole"], copied["good"]) == (0, 0, 0)
    assert (short["unsupported"], short["whole"], short["good"]) == (0, 1, 1)
