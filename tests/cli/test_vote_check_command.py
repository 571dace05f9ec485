"""`brido vote-check`: what it says of made-up candidates, and of lines it cannot use."""

import json

import pytest
from standard_input import stdin

from brido.cli.vote_check import check_records, command
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

RECORD = {
    "document": "A lorry hit a wall in Ashwick on Monday, police said.",
    "candidates": [
        "The lorry hit a wall in Ashwick.",
        "One lorry hit a wall in Ashwick.",
        "The car struck some house in Colham.",
        "A bus is lost near a tree, and nobody has found it.",
    ],
    "reference": "A lorry struck a house in Colham.",
}


def test_the_numbers_by_hand():
    # Colham is not in the document; the third candidate is as long as the first two, and worse.
    found = check_records([RECORD])
    assert found == {
        "documents": 1, "pairs": 2, "accuracy": 1.0,
        "elected_unsupported": 0.0, "candidates_unsupported": 0.25,
    }  # fmt: skip
    found = check_records([RECORD], alpha=float("inf"))
    assert (found["accuracy"], found["elected_unsupported"]) == (0.0, 1.0)


def test_marks_take_the_place_of_the_document(tmp_path, monkeypatch, capsys):
    record = {"candidates": RECORD["candidates"], "unsupported": [2, 2, 0, 0.5]}
    monkeypatch.setattr("sys.stdin", stdin(json.dumps(record) + "\n"))
    invoke(command, ["-"])
    assert json.loads(capsys.readouterr().out)["accuracy"] == 0.0
    alike = {"candidates": RECORD["candidates"], "unsupported": [0] * 4}
    assert check_records([alike])["accuracy"] is None


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"candidates": ["a"]}, "line 2"),
        ({"candidates": ["a", 1, "b", "c"]}, "candidate 2"),
        ({"candidates": ["a", "b"]}, "2 candidates, but the first line has 4"),
        ({"document": 3}, "`document`"),
        ({"unsupported": [1, 2]}, "`unsupported`"),
        ({"unsupported": [1, 2, 3, "4"]}, "`unsupported`"),
        ({"reference": None}, "`reference`"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path, changes, named):
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (RECORD, RECORD | changes)))
    with pytest.raises(BridoError, match=f"line 2: .*{named}|{named}: "):
        invoke(command, [str(path), "--alpha", "1"])
    path.write_text("\n")
    with pytest.raises(BridoError, match="there is no line"):
        invoke(command, [str(path)])
