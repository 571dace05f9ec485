"""What strangers write in JSON: rows that have a problem, and what a line of JSON cannot hold."""

import pytest

from brido.utils.errors import BridoError
from brido.utils.files import read_rows
from brido.utils.outputs import json_line
from brido.utils.rows import NOT_UNICODE, LeftOut


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"id": 1, "id": 2}', "'id' occurs twice"),
        (b'{"a": [{"b": 1, "b": 1}]}', "'b' occurs twice"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"\\udc00": 1}', "surrogate"),
        (b'{"a": "caf\xe9"}', "not UTF-8"),
        (b"7", "a number"),
        (b'{"id":', "not JSON"),
        (b'{"id": 1} {"id": 2}', "one object a line"),
        (b"{" * 100_000, "not JSON"),
        (b'{"a":' * 100_000, "nested"),
    ],
)
def test_a_row_that_has_a_problem(tmp_path, line, said):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id": 0}\n' + line)
    good, bad = read_rows(path)
    assert good == ("a.jsonl line 1", {"id": 0}, "")
    assert said in bad.problem
    assert (bad.place, bad.values) == ("a.jsonl line 2", {})


def test_a_row_of_csv_that_is_not_utf8(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,text\n1,caf\xe9\n2,tea\n")
    bad, good = read_rows(path)
    assert bad == ("a.csv line 2", {}, NOT_UNICODE)
    assert good.values == {"id": "2", "text": "tea"}


def test_rows_that_are_left_out_are_counted_and_the_first_ones_named():
    left_out = LeftOut()
    left_out.note("blank", "row 9")
    for number in range(4):
        left_out.note("null", f"row {number}")
    assert left_out.text() == "null: 4 (row 0, row 1, row 2, ...); blank: 1 (row 9)"
    assert left_out.problem(10, 0.5, "--max-bad") == ""
    assert "5 of 9 rows are bad (55.56%; --max-bad allows 50.00%)" in left_out.problem(
        9, 0.5, "--max-bad"
    )


def test_bytes_are_no_text_of_a_line():
    with pytest.raises(BridoError, match="bytes"):
        json_line({"picture": b"PNG"})
