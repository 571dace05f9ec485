"""The short table and the warning about length."""

import pytest

from brido.report.display import direction
from brido.report.metrics import Estimate
from brido.report.summary import (
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


def test_table_shows_units_intervals_and_stars():
    columns = headline_columns(SYSTEMS)
    lines = summary_table(result_table(columns, SYSTEMS, GAPS), 0.95).splitlines()
    assert lines[1].split() == ["unsupported", "%", "↓", "R-1", "↑"]
    assert lines[3].split() == ["base", "35.9", "60.20"]
    assert lines[4].split() == ["31.0…40.4", "59.0…61.4"]
    assert lines[8].split() == ["tuned", "-", "base", "-7.3*", "-0.10"]
    assert lines[9].split() == ["-10.0…-4.0", "-0.9…+0.6"]
    assert lines[-1] == (
        "Below each mean: its 95% bootstrap interval over documents; * the interval of a paired "
        "difference leaves out 0"
    )


def lengths(base, tuned):
    return {name: {"extractiveness": {"length": Estimate(mean, mean, mean, 9)}}
            for name, mean in (("base", base), ("tuned", tuned))}  # fmt: skip


def test_length_warning_begins_above_the_limit():
    for base, tuned in ((100, 103), (100, 97), (0, 5)):
        assert length_warning(lengths(base, tuned), "tuned", 0.03) is None
    assert length_warning({"base": {}, "tuned": {}}, "tuned", 0.03) is None
    assert "4.0% longer" in length_warning(lengths(100, 104), "tuned", 0.03)
    assert "4.0% shorter" in length_warning(lengths(100, 96), "tuned", 0.03)


# More R-1 is better; an interval ends in one digit. Fewer unsupported are better; in per cent.
@pytest.mark.parametrize(
    ("column", "low", "high", "side"),
    [
        (("rouge", "r1"), 0.1, 2.0, 1),
        (("rouge", "r1"), -2.0, -0.1, -1),
        # It straddles 0, with a mean on either side of it.
        (("rouge", "r1"), -0.1, 2.0, 0),
        (("rouge", "r1"), -2.0, 0.1, 0),
        # It touches 0, as it is and as it is printed: .04 is 0.0, and .06 is 0.1.
        (("rouge", "r1"), 0.0, 2.0, 0),
        (("rouge", "r1"), -2.0, 0.0, 0),
        (("rouge", "r1"), 0.0, 0.0, 0),
        (("rouge", "r1"), 0.04, 2.0, 0),
        (("rouge", "r1"), 0.06, 2.0, 1),
        (("rouge", "r1"), -2.0, -0.04, 0),
        (("rouge", "r1"), -2.0, -0.06, -1),
        (("mentions", "unsupported"), -0.2, -0.01, 1),
        (("mentions", "unsupported"), 0.01, 0.2, -1),
        (("mentions", "unsupported"), -0.2, 0.01, 0),
        (("mentions", "unsupported"), -0.2, -0.0004, 0),
        # Better in neither direction: a star and no tone.
        (("extractiveness", "length"), 1.0, 3.0, 1),
    ],
)
def test_a_star_means_that_the_printed_interval_leaves_out_0(column, low, high, side):
    item = Estimate((2 * low + high) / 3, low, high, 9)
    assert direction(item, column) == side
    metric, name = column
    shown = result_table([column], {}, {"tuned - base": {metric: {name: item}}})
    ((_, (cell,)),) = shown.differences
    assert cell.star == (side != 0)
    tones = {1: "better", 0: "", -1: "worse"}
    assert cell.tone == ("" if metric == "extractiveness" else tones[side])


def rouge_and_mentions(r1, unsupported):
    return {
        "rouge": {"r1": Estimate(r1, r1, r1, 9)},
        "mentions": {"unsupported": Estimate(unsupported, unsupported, unsupported, 9)},
    }


def best(systems):
    shown = result_table([("rouge", "r1"), ("mentions", "unsupported")], systems, {})
    return [{name for name, cells in shown.rows if cells[place].tone == "best"} for place in (0, 1)]


def test_the_best_has_the_highest_or_the_lowest_mean_and_the_reference_does_not_compete():
    systems = {
        "reference": rouge_and_mentions(99.0, 0.0),
        "base": rouge_and_mentions(60.0, 0.3),
        "tuned": rouge_and_mentions(61.0, 0.4),
        "other": rouge_and_mentions(61.0, 0.5),
    }
    assert best(systems) == [{"tuned", "other"}, {"base"}]
    two = {name: systems[name] for name in ("reference", "base", "tuned")}
    assert best(two) == [{"tuned"}, {"base"}]
    # One alone is not the best of any.
    assert best({name: systems[name] for name in ("reference", "base")}) == [set(), set()]
