"""The vote check on the page: plain sentences, and the election as a table."""

import pytest

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


@pytest.mark.parametrize(
    ("verdict", "begin", "advice"),
    [
        ("beats", "Electing helps: ", "Tuning on this vote should help."),
        (
            "loses",
            "Electing does harm: ",
            "At equal length, tuning on this vote would make nothing better and may do harm.",
        ),
        (
            "nothing",
            "Nothing was found to judge by: ",
            "Nothing can be said of tuning on this vote.",
        ),
        ("few", "Too few documents to tell: ", "Nothing can be said of tuning on this vote."),
        ("open", "Electing is not shown to help: ", "Tuning on this vote may help or do harm."),
    ],
)
def test_the_election_in_plain_words_and_as_a_table(verdict, begin, advice):
    election = {"verdict": verdict, "caution": "", "all": ALL, "equal_length": NONE}
    vote = {"label": "the vote", "mean": None, "pairs": 0, "by_gap": {}}
    shown = vote_check(TOLD | {"election": election, "accuracy": {"vote": vote}})
    assert shown.sentences == [
        f"{begin}34 % of the elected candidates say something that the article does not support, "
        "against 45 % of what base writes by itself.",
        advice,
        "Too few pairs of candidates are about equally long and not equally good to say more (0).",
    ]
    assert shown.election[1:] == [
        ["all", "300", "34.4 %", "45.0 %", "-10.6 points [-16.0, +5.3]"],
        ["elected and base equally long", "0", "–", "–", "– points [–, –]"],
    ]
    assert shown.bars == []
    careful = vote_check(TOLD | {"election": election | {"caution": "Perhaps."}, "accuracy": {}})
    assert careful.sentences[1] == f"{advice} Perhaps."


def test_how_often_the_vote_is_right_against_chance():
    vote = {
        "label": "the vote", "mean": 0.597, "low": 0.57, "high": 0.62,
        "by_gap": {"1": 0.5, "2": None}, "elected_unsupported": 0.25, "pairs": 20,
    }  # fmt: skip
    shown = vote_check(TOLD | {"accuracy": {"vote": vote}})
    assert shown.sentences == [
        "Of two candidates that are about equally long the vote prefers the better one 60 times in "
        "100; 50 would be chance."
    ]
    assert shown.election == []
    assert shown.quarters[1] == ["the vote", "0.50", "–", "25.0 %"]
