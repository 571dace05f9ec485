"""The check of the orders on the page: its sentences, a bar an order, the table."""

from brido.report.page.data import vote_check

ROW = {
    "label": "vote, flat", "mean": 0.597, "low": 0.57, "high": 0.62, "pairs": 20,
    "elected_unsupported": 0.25, "left": {"mean": 0.462, "low": 0.439, "high": 0.486},
}  # fmt: skip
LIKELY = ROW | {"label": "base's log p", "left": None, "elected_good": 0.5}
NONE = ROW | {"left": {"mean": None, "low": None, "high": None}, "mean": None}
SHARES = {who: {"mean": share} for who, share in (("elected", 0.25), ("base", 0.344))}
CHECK = {
    "orders": {"vote": ROW, "none": NONE}, "fixed": {"log_probability": LIKELY}, "documents": 300,
    "judge": "facts", "length_tolerance": 0.0, "taken_out": ["length"], "lines": ["So.", "And."],
}  # fmt: skip


def test_the_lines_the_bars_and_the_table():
    shown = vote_check(CHECK | {"election": {"unsupported": SHARES, "sentence": "So."}})
    assert shown.lines == ["So.", "And."]
    (bar,) = shown.bars
    assert (bar.label, bar.text) == ("vote, flat", "0.462 [0.439, 0.486]")
    assert (bar.mean, bar.low, bar.high) == (0.462, 0.439, 0.486)
    assert shown.orders[1:] == [
        ["vote, flat", "0.462 [0.439, 0.486]", "0.597 [0.570, 0.620]", "25.0 %", "–"],
        ["vote, flat", "–", "–", "25.0 %", "–"],
        ["base's log p", "–", "0.597 [0.570, 0.620]", "25.0 %", "50.0 %"],
        ["base's own output", "–", "–", "34.4 %", "–"],
    ]
    assert "of equal length" in shown.note


def test_few_documents_have_no_intervals():
    few = {"low": None, "high": None}
    row = ROW | few | {"left": ROW["left"] | few}
    shown = vote_check(CHECK | {"orders": {"vote": row, "none": NONE}})
    (bar,) = shown.bars
    assert (bar.text, bar.low, bar.high) == ("0.462", 0.462, 0.462)
    assert shown.orders[1] == ["vote, flat", "0.462", "0.597", "25.0 %", "–"]
    assert len(shown.orders) == 4
