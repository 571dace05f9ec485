"""`brido vote-check`: what it says of made-up candidates, and of lines it cannot use."""

import json

import pytest
from standard_input import stdin

from brido.cli.vote_check import check_rows, command
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
    found = check_rows([RECORD])
    assert found == {
        "documents": 1, "pairs": 2, "accuracy": 1.0,
        "elected_unsupported": 0.0, "candidates_unsupported": 0.25,
    }  # fmt: skip
    found = check_rows([RECORD], alpha=float("inf"))
    assert (found["accuracy"], found["elected_unsupported"]) == (0.0, 1.0)


def test_marks_take_the_place_of_the_document(tmp_path, monkeypatch, capsys):
    # Whole numbers beyond 64 bits too.
    record = {"candidates": RECORD["candidates"], "unsupported": [2**64, 2**64, 0, 0.5]}
    monkeypatch.setattr("sys.stdin", stdin(json.dumps(record) + "\n"))
    invoke(command, ["-"])
    assert json.loads(capsys.readouterr().out)["accuracy"] == 0.0
    alike = {"candidates": RECORD["candidates"], "unsupported": [0] * 4}
    assert check_rows([alike])["accuracy"] is None


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"candidates": ["a"]}, "at least 2"),
        ({"candidates": ["a", 1, "b", "c"]}, "candidate 2"),
        ({"document": " "}, "`document`"),
        ({"document": 3}, "`document`"),
        ({"unsupported": [1, 2]}, "`unsupported`"),
        ({"unsupported": [1, 2, 3, "4"]}, "`unsupported`"),
        ({"unsupported": [1, 2, 3, -1]}, "`unsupported`"),
        ({"reference": None}, "`reference`"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path, changes, named):
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (RECORD, RECORD | changes)))
    with pytest.raises(BridoError, match=rf"{named}.*c\.jsonl line 2"):
        invoke(command, [str(path), "--alpha", "1"])
    invoke(command, [str(path), "--alpha", "1", "--max-bad", "0.5"])
    path.write_text("\n")
    with pytest.raises(BridoError, match="has no rows"):
        invoke(command, [str(path)])


def test_rows_may_have_different_numbers_of_candidates():
    two = {"candidates": RECORD["candidates"][1:3], "document": RECORD["document"]}
    found = check_rows([RECORD, two])
    # The two of the second row are as like each other: half right.
    assert (found["pairs"], found["accuracy"]) == (3, round(2.5 / 3, 4))
