"""The check of the vote on the page: its verdict, the election as a table, the bars."""

from brido.report.page.vote_check import vote_check

ALL = {
    "elected": {"mean": 0.344, "documents": 300},
    "base": {"mean": 0.45, "documents": 300},
    "difference": {"mean": -0.106, "low": -0.16, "high": 0.0531},
}
NONE = {
    "elected": {"mean": None, "documents": 0},
    "base": {"mean": None, "documents": 0},
    "difference": {"mean": None, "low": None, "high": None},
}
TOLD = {"accuracy": {}, "documents": 300, "judge": "facts", "length_tolerance": 0.0}
TOLD |= {"verdict": ["Yes.", "0.5.", "Next: go."]}


def test_the_verdict_and_the_election_as_a_table():
    election = {"verdict": "beats", "caution": "", "all": ALL, "equal_length": NONE, "good": ALL}
    vote = {"label": "the vote", "mean": None, "pairs": 0}
    told = TOLD | {"election": election, "accuracy": {"vote": vote}}
    shown = vote_check(told)
    assert shown.verdict == ["Yes.", "0.5.", "Next: go."]
    assert shown.election[1:] == [
        ["unsupported", "300", "34.4 %", "45.0 %", "-10.6 points [-16.0, +5.3]"],
        ["unsupported, elected and base equally long", "0", "–", "–", "– points [–, –]"],
        ["good", "300", "34.4 %", "45.0 %", "-10.6 points [-16.0, +5.3]"],
    ]
    assert shown.bars == []


def test_a_bar_has_an_interval_unless_documents_are_few():
    vote = {
        "label": "the vote", "mean": 0.597, "low": 0.57, "high": 0.62,
        "elected_unsupported": 0.25, "pairs": 20,
    }  # fmt: skip
    shown = vote_check(TOLD | {"accuracy": {"vote": vote}})
    assert shown.bars[0].text == "0.597 [0.570, 0.620]"
    assert shown.election == []
    assert shown.rankings[1] == ["the vote", "–", "25.0 %", "–"]
    more = vote | {"elected_good": 0.5, "beyond": {"mean": 0.61}}
    shown = vote_check(TOLD | {"accuracy": {"vote": more}})
    assert shown.rankings[1][1:] == ["0.610", "25.0 %", "50.0 %"]
    (bar,) = vote_check(TOLD | {"accuracy": {"vote": vote}, "documents": 5}).bars
    assert (bar.text, bar.low, bar.high) == ("0.597", 0.597, 0.597)
