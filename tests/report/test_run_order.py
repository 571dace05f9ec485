"""What the page and the tables say of a run's order: every part that has a weight."""

import pytest

from brido.report.settings_text import run_order
from brido.vote.settings import ScoringSettings


@pytest.mark.parametrize(
    ("scoring", "parts"),
    [
        ({"information": 0.0, "alpha": 15}, {"15"}),
        ({"information": 0.25, "support": 0.5}, {"information 0.25", "support 0.5"}),
        ({"information": 0.0, "remove_base": True}, {"base"}),
        ({"information": 0.25, "remove_base": True, "shuffle": True}, {"shuffled"}),
    ],
    ids=str,
)
def test_every_part_of_the_order_is_named(scoring, parts):
    said = run_order(ScoringSettings(**scoring))
    words = {"15", "information 0.25", "support 0.5", "base", "shuffled"}
    assert {word for word in words if word in said} == parts
