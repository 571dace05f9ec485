"""Marks are read from whatever form a judge gives them, and from nothing that is no mark."""

import json

import pytest
from answers_of_judges import ALL, CUT, ONE
from hypothesis import given
from hypothesis import strategies as st

from brido.evaluation.geval.criteria import (
    CRITERIA,
    SCALES,
    answer_schema,
    average,
    average_normalised,
)
from brido.evaluation.geval.parsing import Missing, read_marks

MARKS = {"coherence": 4.0, "consistency": 5.0, "fluency": 3.0, "relevance": 2.0}
PLAIN = '{"coherence": 4, "consistency": 5, "fluency": 3, "relevance": 2}'

READABLE = {
    "json": PLAIN,
    "fences": f"```json\n{PLAIN}\n```",
    "prose around": f"Here is my verdict (I took my time):\n{PLAIN}\nI hope {{this}} helps.",
    "single quotes": PLAIN.replace('"', "'"),
    "typographic quotes": "{“coherence”: 4, ”consistency“: 5, „fluency“: 3, «relevance»: 2}",
    "text": '{"coherence": "4", "consistency": " 5 ", "fluency": "3.0", "relevance": "2,0"}',
    "out of": '{"coherence": "4/5", "consistency": "5 out of 5", "fluency": "3 / 3", '
    '"relevance": "2 of 5"}',
    "capitals": PLAIN.upper().replace("RELEVANCE", "Relevance"),
    "nested": '{"scores": ' + PLAIN + "}",
    "with reasons": json.dumps({n: {"score": m, "reason": "1 to 5"} for n, m in MARKS.items()}),
    "lines": "Coherence: 4\nConsistency: 5\nFluency: 3\nRelevance: 2",
    "markdown": "- **Coherence (1-5)**: 4/5\n- **Consistency**: **5**\n"
    "* *Fluency*: 3\n- `Relevance`: 2",
    "sentences": "Coherence is 4. Consistency is 5, fluency is 3 and relevance is 2.",
    "trailing comma": PLAIN.replace("2}", "2,}"),
    "no end": PLAIN[:-1] + " ",
    "reasons in the values": '{"coherence": "4 - well built", "consistency": "5 (all is there)", '
    '"fluency": "3/3, it reads well", "relevance": "2: off the point"}',
    "form first": '{"coherence": 0, "consistency": 0, "fluency": 0, "relevance": 0}\n' + PLAIN,
    "reasoning": '<think>Say {"coherence": 1} or coherence: 2?</think>' + PLAIN,
    "second thoughts": PLAIN.replace("4", "1") + " On reflection: " + PLAIN,
    "no-break space": PLAIN.replace(": ", ":\u00a0"),
}


@pytest.mark.parametrize("name", READABLE)
def test_every_form_that_judges_write_is_read(name):
    assert read_marks(READABLE[name], CRITERIA) == MARKS


NO_MARKS = {
    ("", "empty"),
    ("<think>coherence: 4", "cut_off"),
    ("I would rather not.", "missing"),
    ('{"coherence": 0}', "off_scale"),
    ('{"coherence": 6}', "off_scale"),
    ('{"coherence": 45}', "off_scale"),
    ('{"coherence": "8/10"}', "off_scale"),
    ('{"coherence": NaN}', "off_scale"),
    ('{"coherence": 1e999}', "off_scale"),
    ('{"coherence": true}', "not_a_number"),
    ('{"coherence": null}', "not_a_number"),
    ('{"coherence": [4]}', "not_a_number"),
    ('{"coherence": {"reason": 4}}', "not_a_number"),
    ('{"coherence": "3-4"}', "not_a_number"),
    ('{"coherence": "good"}', "not_a_number"),
    ('{"coherence": "4 sentences that fit"}', "not_a_number"),
    ("Coherence: 1-5", "missing"),
    ("Coherence: 0", "off_scale"),
    ("Coherence: 8/10", "off_scale"),
    ("Incoherence: 4", "missing"),
    ("On coherence the summary, of 4 sentences, is weak", "missing"),
    ('{"coherence": <1 to 5>, "consistency": <1 to 5>}', "missing"),
    ("4", "missing"),
}


@pytest.mark.parametrize(("text", "reason"), sorted(NO_MARKS))
def test_what_is_no_mark_is_missing_with_its_reason(text, reason):
    assert read_marks(text, CRITERIA)["coherence"] == Missing(reason)


def written(mark):
    """A mark as the tables of answers have it: a number, or the reason why there is none."""
    return mark.reason if isinstance(mark, Missing) else mark


@pytest.mark.parametrize(("text", "mark"), [row[1:] for row in ONE], ids=[row[0] for row in ONE])
def test_an_answer_for_one_criterion_has_the_mark_that_a_person_reads(text, mark):
    assert written(read_marks(text, ["coherence"])["coherence"]) == mark


@pytest.mark.parametrize(("text", "marks"), [row[1:] for row in ALL], ids=[row[0] for row in ALL])
def test_an_answer_for_all_criteria_has_the_marks_that_a_person_reads(text, marks):
    assert tuple(map(written, read_marks(text, CRITERIA).values())) == marks


@pytest.mark.parametrize(("text", "mark"), [row[1:] for row in CUT], ids=[row[0] for row in CUT])
def test_an_answer_that_was_cut_has_the_marks_that_were_whole(text, mark):
    assert written(read_marks(text, ["coherence"], cut_off=True)["coherence"]) == mark


def test_a_number_at_the_end_of_a_cut_off_answer_is_not_trusted():
    text = '{"coherence": 4, "consistency": 3'
    assert read_marks(text, CRITERIA)["consistency"] == 3.0
    cut_off = read_marks(text, CRITERIA, cut_off=True)
    assert cut_off["coherence"] == 4.0
    assert cut_off["consistency"] == cut_off["fluency"] == Missing("cut_off")


def test_a_refusal_holds_no_marks_even_if_it_quotes_some():
    assert read_marks(PLAIN, CRITERIA, refused=True) == dict.fromkeys(CRITERIA, Missing("refused"))


@given(
    st.fixed_dictionaries({name: st.integers(low, high) for name, (low, high) in SCALES.items()}),
    st.permutations(CRITERIA),
    st.sampled_from(["{}", "```\n{}\n```", "Marks follow. {} That is all: 5 of 5."]),
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
    worst = dict.fromkeys(CRITERIA, 1.0)
    assert (average(worst), average_normalised(worst)) == (1.0, 0.0)
    assert average({**MARKS, "fluency": None}) is None
    assert average_normalised({**MARKS, "fluency": None}) is None


def test_the_schema_allows_exactly_the_whole_marks_of_the_scales():
    schema = answer_schema(CRITERIA)["json_schema"]["schema"]
    assert schema["required"] == list(CRITERIA)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["fluency"]["enum"] == [1, 2, 3]
    assert schema["properties"]["relevance"]["enum"] == [1, 2, 3, 4, 5]


HOSTILE = [
    "{" * 10**6, '{"a":' * 10**5, "Score:" + " " * 10**6, "Score: 1. a\n" * 10**5, "4\n" * 10**5,
    "| Coherence " * 10**5, "Coherence: 1-1" * 10**5, "\n" * 10**6, "Score " * 10**5,
    "| Coherence | 4 " * 10**5, "I give " * 10**5,
    "1-" * 10**5, "Score: " + "1 - " * 10**5, "coherence is of " * 10**5, "[[" * 10**5, "4" * 10**6,
    "4" * 10**4 + ". x",
    "<think>" * 10**5, "coherence score for " * 10**5, "*" * 10**6, "<score>" * 10**5, "(" * 10**6,
]  # fmt: skip


def test_what_a_hostile_server_writes_is_read_in_little_time():
    """Each takes well below a second; a form that goes back and forth would take hours."""
    for text in HOSTILE:
        for criteria in (CRITERIA, ["coherence"]):
            assert set(read_marks(text, criteria)) == set(criteria)


def test_the_end_of_a_long_answer_is_read():
    assert read_marks("word " * 10**5 + "\n\n4", ["coherence"]) == {"coherence": 4.0}
