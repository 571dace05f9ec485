"""The study's arithmetic: matched length, intervals over seeds and documents, votes."""

import numpy as np
import pytest

from benchmarks.study_measures import interval, matched_penalty, measure, votes
from brido.corpus.world import documents
from brido.settings import WorldSettings


@pytest.mark.parametrize(
    ("lengths", "target", "expected"),
    [
        ({0.0: 10.0, 1.0: 12.0, 2.0: 20.0}, 11.0, 0.5),
        ({0.0: 10.0, 1.0: 12.0, 2.0: 20.0}, 16.0, 1.5),
        ({2.0: 20.0, 0.0: 10.0}, 10.0, 0.0),
        ({0.0: 10.0, 1.0: 12.0}, 13.0, None),
        ({0.0: 10.0, 1.0: 10.0}, 10.0, None),
    ],
)
def test_matched_penalty(lengths, target, expected):
    assert matched_penalty(lengths, target) == expected


def test_the_interval_covers_differences_between_seeds():
    """No spread within seeds: all of the interval comes from drawing seeds."""
    same = [np.full(50, 0.3)] * 5
    assert interval(same) == pytest.approx((0.3, 0.3, 0.3))
    spread = [np.full(50, value) for value in (0.1, 0.2, 0.3, 0.4, 0.5)]
    mean, low, high = interval(spread)
    assert mean == pytest.approx(0.3)
    # Five draws of values with standard deviation 0.141: +- 1.96 x 0.141 / sqrt(5).
    assert (low, high) == (pytest.approx(0.18, abs=0.02), pytest.approx(0.42, abs=0.02))


def test_the_interval_of_a_difference_is_paired():
    rng = np.random.default_rng(1)
    base = [rng.random(200) for _ in range(3)]
    tuned = [values - 0.1 for values in base]
    assert interval(tuned, base) == pytest.approx((-0.1, -0.1, -0.1))


def test_measures_of_references():
    rows = list(documents(WorldSettings(), "test", 30))
    found = measure(rows, [row["summary"] for row in rows])
    assert set(found["R-1"]) == {100}
    assert set(found["fluency"]) == {3}
    missing = [any(not fact["in_document"] for fact in row["facts"]) for row in rows]
    assert found["unsupported"].tolist() == missing
    assert set(measure(rows[:2], ["a b c", ""], ["words"])) == {"words"}


def test_votes_by_hand():
    facts = [{"slot": "town", "type": "town", "value": "Ashwick", "in_document": True}]
    rows = [{"facts": facts}] * 3
    good, bad = "In Ashwick.", "In Colwick."
    candidates = [[good, bad, good, good], [bad, bad, bad, good], [good] * 4]
    first, second = (lambda index: 0), (lambda index: 1)
    table = votes(rows, candidates, {"consensus": first, "reference": second}, (0, 0.5, 1))
    assert table == [
        {"documents": 2, "pool": 0.125, "consensus": 0, "reference": 0.5},
        {"documents": 1, "pool": 0.75, "consensus": 1, "reference": 1},
    ]
