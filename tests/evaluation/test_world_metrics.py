"""world_qa and world_judge: marks worked out by hand on known facts."""

import pytest

from brido.corpus.settings import WorldSettings
from brido.evaluation import Inputs
from brido.evaluation.registry import find_metric
from brido.evaluation.world_judge import judge
from brido.evaluation.world_qa import compare, questions
from brido.utils.errors import BridoError
from brido.world import documents


def fact(slot, kind, value, in_document=True):
    return {"slot": slot, "type": kind, "value": value, "in_document": in_document}


FACTS = [
    fact("event", "event", "court"),
    fact("defendant", "person", "Anna Aldlow"),
    fact("offence", "term", "fraud"),
    fact("town", "town", "Ashwick"),
    fact("age", "age", "44"),
    fact("county", "county", "Avenshire", False),
    fact("other_age", "age", "71"),
]
TRUE = "Anna Aldlow, 44, has been jailed for fraud by a court in Ashwick."
COUNTY = "Anna Aldlow, 44, has been jailed for fraud by a court in Ashwick, Avenshire."
STOLEN_AGE = "Anna Aldlow, 71, has been jailed for fraud by a court in Ashwick."


def evaluate(metric, summaries, facts):
    count = len(summaries)
    ids = [str(index) for index in range(count)]
    inputs = Inputs(ids, [""] * count, summaries, [["x"]] * count, facts)
    return find_metric(metric).measure(inputs)


def test_judge_by_hand():
    marks, detail = judge(TRUE, FACTS)
    assert marks == {"coherence": 5, "consistency": 5, "fluency": 3, "relevance": 5}
    assert detail == {"event": "court", "well_formed": True, "not_stated": []}

    marks, detail = judge(COUNTY, FACTS)  # 4 of 5 statements are the document's
    assert marks == {"coherence": 5, "consistency": 1 + 4 * 4 / 5, "fluency": 3, "relevance": 5}
    assert detail["not_stated"] == [{"slot": "county", "type": "county", "value": "Avenshire"}]

    marks, _ = judge(STOLEN_AGE, FACTS)  # 71 is in the document, but it is another person's
    assert marks["consistency"] == 1 + 4 * 3 / 4

    marks, _ = judge("Anna Aldlow was jailed jailed in Ashwick", FACTS)
    assert marks == {"coherence": 5, "consistency": 5, "fluency": 1, "relevance": 1 + 4 * 2 / 3}
    marks, _ = judge("Anna Aldlow and Tom Barlow met Keltech Foods.", FACTS)
    # Defendant told twice and an organisation without a role: 5 - 1 - 1; 1 of 3 statements holds.
    third = 1 + 4 / 3
    assert marks == {"coherence": 3, "consistency": third, "fluency": 2, "relevance": third}

    other = "The crash of a van near Ashwick has hurt Anna Aldlow."
    marks, detail = judge(other, FACTS)
    assert (detail["event"], marks["coherence"]) == ("crash", 3)

    marks, _ = judge("", FACTS)
    assert marks == {"coherence": 5, "consistency": 1, "fluency": 1, "relevance": 1}


def test_questions_by_hand():
    asked = {each["slot"]: each for each in questions(STOLEN_AGE, FACTS)}
    assert set(asked) == {"defendant", "offence", "town", "age"}
    assert asked["age"]["prediction"] == "44"
    assert (asked["age"]["is_answered"], asked["age"]["em"]) == (1, 0)
    (county,) = [each for each in questions(COUNTY, FACTS) if each["slot"] == "county"]
    assert (county["prediction"], county["is_answered"], county["f1"]) == (None, 0, 0)


@pytest.mark.parametrize(
    ("answer", "prediction", "f1", "em"),
    [
        ("Anna Aldlow", "Anna Aldlow", 1, 1),
        ("Mr Aldlow", "Ms Aldlow", 1, 1),
        ("Aldlow", "Anna Aldlow", 2 / 3, 0),
        ("the Foods", "Foods!", 1, 1),
        ("44", "71", 0, 0),
        ("44", None, 0, 0),
    ],
)
def test_compare(answer, prediction, f1, em):
    assert compare(answer, prediction) == (pytest.approx(f1), em)


def test_world_qa_averages_over_questions():
    (row,) = evaluate("world_qa", [COUNTY], [FACTS]).rows
    assert row == {"is_answered": 80, "f1": 80, "em": 80}
    (row,) = evaluate("world_qa", ["Nothing."], [FACTS]).rows
    assert row == {"is_answered": 0, "f1": 0, "em": 0}


@pytest.mark.parametrize("metric", ["world_qa", "world_judge"])
def test_references_where_everything_is_supported_are_perfect(metric):
    rows = list(documents(WorldSettings(support_rate=1.0), "test", 60))
    result = evaluate(metric, [row["summary"] for row in rows], [row["facts"] for row in rows])
    best = {"world_qa": 100, "world_judge": 5}[metric]
    for row in result.rows:
        others = {"fluency", "average", "whole", "good", "sound"}
        assert {row[name] for name in row if name not in others} == {best}
        if metric == "world_judge":
            assert (row["fluency"], row["average"]) == (3, 4.5)
            assert (row["whole"], row["good"], row["sound"]) == (1, 1, 1)


def test_a_sound_summary_is_a_whole_sentence_of_what_the_document_says():
    """Without its full stop it is none, nor where the document says nothing of it.

    A mention that stands in the document is good; whose age it is, `sound` alone asks.
    """
    rows = list(documents(WorldSettings(support_rate=1.0), "test", 1))
    summary, facts = rows[0]["summary"], rows[0]["facts"]
    unsaid = [fact | {"in_document": fact["slot"] == "event"} for fact in facts]
    cases = [(summary, facts), (summary.rstrip("."), facts), (summary, unsaid), ("", facts)]
    cases += [(STOLEN_AGE, FACTS), (COUNTY, FACTS)]
    result = evaluate("world_judge", *zip(*cases, strict=True))
    assert [row["sound"] for row in result.rows] == [1, 0, 0, 0, 0, 0]
    assert [row["whole"] for row in result.rows] == [1, 0, 1, 0, 1, 1]
    assert [row["good"] for row in result.rows] == [1, 0, 0, 0, 1, 0]
    assert [row["consistency"] == 5 for row in result.rows[:3]] == [True, True, False]


@pytest.mark.parametrize("metric", ["world_qa", "world_judge"])
def test_a_corpus_without_facts_is_refused(metric):
    with pytest.raises(BridoError, match="embedded world"):
        evaluate(metric, ["x"], None)
