"""Candidates from files, which the corpus' reader reads: every problem named."""

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from brido.candidates.files import read_candidates
from brido.utils.errors import BridoError

ROWS = [{"id": f"d{number}", "candidates": ["One.", f"Two {number}."]} for number in range(3)]
TEXT = "".join(json.dumps(row) + "\n" for row in ROWS)


@pytest.mark.parametrize("name", ["c.jsonl", "c.parquet"])
def test_rows_are_found_by_id(tmp_path, name):
    path = tmp_path / name
    path.write_text(TEXT)
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    found = read_candidates(path, ["d2", "d0"], 2, "own")
    assert [(row["id"], row["candidates"][1]) for row in found] == [
        ("d2", "Two 2."), ("d0", "Two 0.")
    ]  # fmt: skip


BAD = [
    ({"id": "d\ud800"}, "half of a surrogate pair"),
    ({"candidates": ["a", "\udfff"]}, "half of a surrogate pair"),
    ({"candidates": "ab"}, "`candidates` must be a list of 2 texts"),
    ({"candidates": ["a"]}, "`candidates` must be a list of 2 texts"),
    ({"id": ["d0"]}, "row 1: id is not a text or number"),
    ({"id": None}, "row 1: id is null or blank"),
    ({"candidates": ["a"]}, "The first has 1"),
    ({"id": 7}, "1 documents have no candidates: d0. The file has the ids 7"),
    *(
        (
            {"ended": value},
            "`ended` must be a list of 2 truth values (generation.own.num_candidates): d0",
        )
        for value in (7, False, 0, "", {}, [1, 0], [True, None])
    ),
]


@pytest.mark.parametrize(("given", "expected"), BAD)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path, given, expected):
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps({"id": "d0", "candidates": ["a", "b"]} | given))
    with pytest.raises(BridoError) as caught:
        read_candidates(path, ["d0"], 2, "own")
    assert expected in str(caught.value)


@pytest.mark.parametrize(("given", "name"), [(12, "12"), (1.0, "1.0"), ("007", "007")])
def test_numbers_are_ids_as_in_a_corpus(tmp_path, given, name):
    """A column of whole numbers with a gap is one of decimal numbers in pandas."""
    row = {"id": given, "candidates": ["a", "b"]}
    (tmp_path / "c.jsonl").write_text(json.dumps(row))
    [found] = read_candidates(tmp_path / "c.jsonl", [name], 2, "own")
    assert (found["id"], found["candidates"]) == (name, ["a", "b"])


def test_a_table_without_lists_is_refused(tmp_path):
    (tmp_path / "c.csv").write_text("id,candidates\nd0,a\n")
    with pytest.raises(BridoError, match="must be a list of 2 texts"):
        read_candidates(tmp_path / "c.csv", ["d0"], 2, "own")


def test_what_is_no_file_is_named(tmp_path):
    path = tmp_path / "c.jsonl"
    with pytest.raises(BridoError, match="there is no such file"):
        read_candidates(path, ["d0"], 2, "own")
    os.mkfifo(path)
    for other in (path, tmp_path):
        with pytest.raises(BridoError, match="it is a folder, a pipe"):
            read_candidates(other, ["d0"], 2, "own")


@pytest.mark.parametrize("value", [None, []])
def test_ends_may_be_left_out_and_scores_are_nobodys(tmp_path, value):
    row = {"id": "d0", "candidates": ["a", "b"], "search_scores": [1.0, 2.0], "ended": value}
    (tmp_path / "c.jsonl").write_text(json.dumps(row))
    [found] = read_candidates(tmp_path / "c.jsonl", ["d0"], 2, "own")
    assert found["ended"] == [True, True]
    assert all(score != score for score in found["search_scores"])


def test_ids_in_messages_are_escaped_and_cut(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_text(TEXT)
    with pytest.raises(BridoError) as caught:
        read_candidates(path, ["\x1b[31m", "x" * 100_000], 2, "own")
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 300
