"""Marks are read strictly: a wrong mark never, a missing one with its reason."""

import json

import pytest
from answers_of_judges import ONE
from hypothesis import given
from hypothesis import strategies as st

from brido.endpoint import Answer
from brido.evaluation.geval.criteria import (
    CRITERIA,
    SCALES,
    answer_schema,
    average,
    average_normalised,
)
from brido.evaluation.geval.parsing import Missing, read_marks
from brido.evaluation.geval.scoring import Account, score_document

MARKS = {"coherence": 4.0, "consistency": 5.0, "fluency": 3.0, "relevance": 2.0}
PLAIN = '{"coherence": 4, "consistency": 5, "fluency": 3, "relevance": 2}'

READABLE = {
    "json": PLAIN,
    "indented": json.dumps(MARKS, indent=2),
    "fences": f"```json\n{PLAIN}\n```",
    "prose around": f"Here is my verdict (I took my time):\n{PLAIN}\nI hope {{this}} helps.",
    "typographic quotes": "{“coherence”: 4, ”consistency“: 5, „fluency“: 3, «relevance»: 2}",
    "text": '{"coherence": "4", "consistency": " 5 ", "fluency": "3.0", "relevance": "2,0"}',
    "out of": '{"coherence": "4/5", "consistency": "5 out of 5", "fluency": "3 / 3", '
    '"relevance": "2 of 5"}',
    "capitals": PLAIN.upper().replace("RELEVANCE", "Relevance"),
    "lines": "Coherence: 4\nConsistency: 5\nFluency: 3\nRelevance: 2",
    "markdown": "- **Coherence (1-5)**: 4/5\n- **Consistency**: **5**\n"
    "* *Fluency*: 3\n- `Relevance`: 2",
    "numbered": "1. Coherence: 4\n2. Consistency: 5\n3. Fluency: 3\n4. Relevance: 2",
    "form first": '{"coherence": <1 to 5>, "consistency": <1 to 5>}\n' + PLAIN,
    "form of zeros first": '{"coherence": 0, "consistency": 0, "fluency": 0}\n' + PLAIN,
    "reasoning": '<think>Say {"coherence": 1} or coherence: 2?</think>' + PLAIN,
    "channels": "analysisSay 1?assistantfinal\nCoherence: 4\nConsistency: 5\nFluency: 3\n"
    "Relevance: 2",
    "second thoughts": PLAIN.replace("4", "1") + "\nOn reflection:\n" + PLAIN,
    "control tokens": f"<|im_start|>assistant\n{PLAIN}<|im_end|></s>",
}


@pytest.mark.parametrize("name", READABLE)
def test_json_by_itself_and_lines_of_marks_are_read(name):
    assert read_marks(READABLE[name], CRITERIA) == MARKS


# Marks that stand inside something else; (answer to a question for coherence, what may be read).
INSIDE = [
    ('{"score": 4, "breakdown": [{"what": "a", "score": 1}, {"what": "b", "score": 5}]}', 4),
    ('{"breakdown": [\n{"score": 1},\n{"score": 5}\n],\n"score": 4}', 4),
    ('{"scores": {"coherence": 4}}', None),
    ('[{"score": 1},\n{"score": 5}]', None),
    ('{"scores":\n{"coherence": 1}', None),
    ('The summary says {"score": 5} at its end.\nScore: 1', 1),
    ("I would rate this 4. If it had the date, I would rate it 5.", None),
    ("Coherence: 4 of the 9 facts", None),
    ("Score: 3\nScore: 4", None),
    ("Coherence: 1 2 3 [4] 5", None),
    ("**4/5**", 4),
    ("4 - well built", None),
]


@pytest.mark.parametrize(("text", "mark"), INSIDE)
def test_what_stands_inside_something_else_is_no_mark(text, mark):
    found = read_marks(text, ["coherence"])["coherence"]
    assert found == mark if mark is not None else isinstance(found, Missing)


NO_MARKS = {
    ("", "empty"),
    ("<think>coherence: 4", "cut_off"),
    ("I would rather not.", "missing"),
    ('{"coherence": 0}', "off_scale"),
    ('{"coherence": "8/10"}', "off_scale"),
    ('{"coherence": NaN}', "off_scale"),
    ('{"coherence": true}', "not_a_number"),
    ('{"coherence": [4]}', "not_a_number"),
    ('{"coherence": {"reason": 4}}', "not_a_number"),
    ('{"coherence": "3-4"}', "not_a_number"),
    ("Coherence: 1-5", "missing"),
    ("Coherence: 8/10", "off_scale"),
    ("Coherence (1-10): 4", "off_scale"),
    ("Coherence: 4\nCoherence: 5", "several"),
    ("Incoherence: 4", "missing"),
    ("4", "missing"),
}


@pytest.mark.parametrize(("text", "reason"), sorted(NO_MARKS))
def test_what_is_no_mark_is_missing_with_its_reason(text, reason):
    assert read_marks(text, CRITERIA)["coherence"] == Missing(reason)


@pytest.mark.parametrize(("text", "mark"), [row[1:] for row in ONE])
def test_no_answer_for_one_criterion_has_another_mark_than_a_person_reads(text, mark):
    found = read_marks(text, ["coherence"])["coherence"]
    assert isinstance(found, Missing) or found == mark


@pytest.mark.parametrize("ending", ["length", "tool_calls", "abort"])
def test_at_the_end_of_an_answer_that_was_cut_no_number_is_trusted(ending):
    reason = Missing("cut_off" if ending == "length" else ending)
    cut = read_marks("Coherence: 4\nConsistency: 3", CRITERIA, ending)
    assert (cut["coherence"], cut["consistency"], cut["fluency"]) == (4.0, reason, reason)
    assert read_marks('{"coherence": 4, "consistency": 3', CRITERIA, ending)["coherence"] == reason
    assert read_marks("4", ["coherence"], ending)["coherence"] == reason
    assert read_marks("", ["coherence"], ending)["coherence"] == reason


def test_a_refusal_holds_no_marks_even_if_it_quotes_some():
    assert read_marks(PLAIN, CRITERIA, "refused") == dict.fromkeys(CRITERIA, Missing("refused"))


@given(
    st.fixed_dictionaries({name: st.integers(low, high) for name, (low, high) in SCALES.items()}),
    st.permutations(CRITERIA),
    st.sampled_from(["{}", "```\n{}\n```", "Marks follow.\n{}\nThat is all: 5 of 5."]),
    st.sampled_from([int, float, str]),
)
def test_marks_on_their_scales_come_back_as_written(marks, order, frame, kind):
    text = frame.replace("{}", json.dumps({name: kind(marks[name]) for name in order}))
    assert read_marks(text, CRITERIA) == marks


@given(
    st.sampled_from(CRITERIA),
    st.one_of(st.integers(), st.floats(), st.booleans(), st.none(), st.text()),
    st.sampled_from(["json", "text", "line"]),
)
def test_no_answer_gives_a_mark_off_its_scale(criterion, value, form):
    text = {
        "json": json.dumps({criterion: value}),
        "text": json.dumps({criterion: str(value)}),
        "line": f"{criterion}: {value}",
    }[form]
    lowest, highest = SCALES[criterion]
    mark = read_marks(text, CRITERIA)[criterion]
    if isinstance(value, int | float) and not isinstance(value, bool) and form == "json":
        valid = lowest <= value <= highest
        assert (mark == value) if valid else isinstance(mark, Missing)
    assert isinstance(mark, Missing) or lowest <= mark <= highest


def test_averages():
    assert average(MARKS) == (4 + 5 + 3 + 2) / 4
    assert average_normalised(MARKS) == pytest.approx((3 / 4 + 4 / 4 + 2 / 2 + 1 / 4) / 4)
    best = {name: float(high) for name, (_, high) in SCALES.items()}
    assert (average(best), average_normalised(best)) == (4.5, 1.0)
    assert average({**MARKS, "fluency": None}) is None
    assert average_normalised({**MARKS, "fluency": None}) is None


def test_the_schema_allows_exactly_the_whole_marks_of_the_scales():
    schema = answer_schema(CRITERIA)["json_schema"]["schema"]
    assert schema["required"] == list(CRITERIA)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["fluency"]["enum"] == [1, 2, 3]
    assert schema["properties"]["relevance"]["enum"] == [1, 2, 3, 4, 5]


def test_a_missing_mark_counts_in_no_mean():
    partial = '{"coherence": 2, "fluency": 3}'
    answers = {n: Answer(text, "stop", False, "m", 9, 3) for n, text in enumerate((PLAIN, partial))}
    account = Account()
    row, detail = score_document("a", [(CRITERIA, answers)], 3, account)
    assert (row["coherence"], row["consistency"], row["valid_answers"]) == (3.0, 5.0, 1.0)
    assert account.missing == {"missing": 2, "not_answered": 4}
    assert (account.marks, account.missing_documents) == (12, ["a"])
    assert detail["answers"][1]["missing"] == {"consistency": "missing", "relevance": "missing"}
    assert account.signature()["prompt_tokens"] == 18
