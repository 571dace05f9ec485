"""The short table and the warning about length."""

from brido.report.metrics import Estimate
from brido.report.summary import (
    every_column,
    headline_columns,
    length_warning,
    result_table,
    summary_table,
)

SYSTEMS = {
    "base": {
        "mentions": {"unsupported": Estimate(0.359, 0.31, 0.404, 500)},
        "rouge": {"r1": Estimate(60.2, 59.0, 61.4, 500), "rl": Estimate(50, 49, 51, 500)},
    },
    "tuned": {
        "rouge": {"r1": Estimate(60.1, 58.9, 61.3, 500)},
        "mentions": {"unsupported": Estimate(0.286, 0.24, 0.33, 500)},
        "made_up": {"thing": Estimate(1, 1, 1, 500)},
    },
}
GAPS = {
    "tuned - base": {
        "rouge": {"r1": Estimate(-0.1, -0.9, 0.6, 500)},
        "mentions": {"unsupported": Estimate(-0.073, -0.1, -0.04, 500)},
    }
}


def test_what_should_be_low_comes_first_and_unknown_columns_last():
    assert headline_columns(SYSTEMS) == [("mentions", "unsupported"), ("rouge", "r1")]
    assert every_column(SYSTEMS)[-1] == ("made_up", "thing")
    assert ("rouge", "rl") in every_column(SYSTEMS)


def table(systems, gaps, voting=""):
    shown = result_table(headline_columns(systems), systems, gaps, voting)
    return summary_table(shown, 0.95, voting)


def test_table_shows_units_intervals_and_stars():
    lines = table(SYSTEMS, GAPS).splitlines()
    assert lines[1].split() == ["unsupported", "%", "↓", "R-1", "↑"]
    assert lines[3].split() == ["base", "35.9", "60.20"]
    assert lines[4].split() == ["31.0…40.4", "59.0…61.4"]
    assert lines[8].split() == ["tuned", "-", "base", "-7.3*", "-0.10"]
    assert "95%" in lines[-1]


def lengths(base, tuned):
    return {"base": Estimate(base, base, base, 9), "tuned": Estimate(tuned, tuned, tuned, 9)}


def test_length_warning_begins_above_the_limit():
    assert length_warning(lengths(100, 103), "tuned", 0.03) is None
    assert length_warning(lengths(100, 97), "tuned", 0.03) is None
    assert "4.0% longer" in length_warning(lengths(100, 104), "tuned", 0.03)
    assert "4.0% shorter" in length_warning(lengths(100, 96), "tuned", 0.03)
    assert length_warning(lengths(0, 5), "tuned", 0.03) is None


def test_a_checker_that_also_voted_is_marked():
    systems = {"base": {"mentions": {"unsupported": Estimate(0.2, 0.1, 0.3, 9)}}}
    marked = table(systems, {}, "mentions")
    assert "Mentions †" in marked
    assert "scoring.support" in marked
    assert "†" not in table(systems, {})
    assert "†" not in table(systems, {}, "minicheck")
