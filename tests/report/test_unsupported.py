"""Votes by pool share."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import made_case

from brido.checkers.mentions import Mention
from brido.report.unsupported import (
    CaseMentions,
    Firsts,
    first_choices,
    unsupported_kinds,
    vote_bins,
)
from brido.settings.load import load_params


def candidate(*unsupported):
    found = [Mention(kind, "x", False, 0, 1) for kind in unsupported]
    return [*found, Mention("town", "x", True, 2, 3)]


def firsts(candidates, **places):
    return Firsts(candidates, {name: candidates[place] for name, place in places.items()})


def test_bins_hold_the_arithmetic():
    ballots = [
        # An age in 1 of 4: the vote elects one without, the reference the one with it.
        firsts([candidate("age"), candidate(), candidate(), candidate()], vote=1, ref=0),
        # A day in 3 of 4, a town in 1 of 4, twice in one candidate counts once.
        firsts(
            [candidate("day", "town", "town"), candidate("day"), candidate("day"), candidate()],
            vote=1,
            ref=3,
        ),
        firsts([candidate(), candidate()], vote=0, ref=1),
    ]
    low, high = vote_bins(ballots)
    assert (low.low, low.high, low.cases, low.pool) == (0.2, 0.4, 2, 0.25)
    assert low.elected == {"vote": 0.0, "ref": 0.5}
    assert (high.low, high.high, high.cases, high.pool) == (0.6, 0.8, 1, 0.75)
    assert high.elected == {"vote": 1.0, "ref": 0.0}


def test_no_unsupported_mention_no_bin():
    assert vote_bins([firsts([candidate(), candidate()], vote=0)]) == []


def test_each_order_puts_another_candidate_first():
    """The run's scores say 2, the reference is nearest to 1; 0, nearer still, cannot be elected."""
    matrix = np.zeros((3, 4), np.float32)
    matrix[:, 3] = 0.9, 0.5, 0.1
    case = made_case([math.nan, 0.2, 0.7], similarity=matrix)
    found = CaseMentions(
        [candidate(), candidate("age"), candidate("day")], {"elected": candidate("town")}
    )

    def kinds(**scoring):
        params = load_params(Path(__file__).parents[2] / "params.yaml")
        scoring = params.scoring.model_copy(update=scoring)
        params = params.model_copy(update={"scoring": scoring})
        (firsts,) = first_choices([case], [found], params)
        return [unsupported_kinds(mentions) for mentions in firsts.first.values()]

    # Without a weight of the reference the run's order is elected's.
    assert kinds() == [{"day"}, {"age"}]
    assert kinds(alpha=7.0) == [{"day"}, {"town"}, {"age"}]


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=20))
def test_every_case_is_in_one_bin_and_a_blind_vote_is_on_the_diagonal(pools):
    # Each document once per candidate, that candidate elected: all candidates equally often.
    ballots = [
        firsts([candidate("age") if carries else candidate() for carries in pool], vote=index)
        for pool in pools
        for index in range(len(pool))
    ]
    bins = vote_bins(ballots)
    assert sum(item.cases for item in bins) == sum(len(pool) for pool in pools if any(pool))
    for item in bins:
        assert item.low < item.pool <= item.high + 1e-9
        assert item.elected["vote"] == pytest.approx(item.pool)
