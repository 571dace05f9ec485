"""Candidates from files, which the corpus' reader reads: every problem named."""

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from brido.candidates.generate import read_candidates
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


# What differs from a good row, and what the message says.
BAD = [
    ({"candidates": ["a", "\udfff"]}, "half of a surrogate pair"),
    ({"candidates": "ab"}, "`candidates` is a text"),
    ({"candidates": ["a", 2]}, "candidate 2 is a number"),
    ({"id": ["d0"]}, "id is not a text or number: 1 (c.jsonl line 1)"),
    ({"id": 7}, "1 documents have no candidates: d0. The file has the ids 7"),
    ({"id": "\x1b[31m"}, r"has the ids \x1b[31m"),
    *(({"ended": value}, "`ended` must be a list of 2 truth values")
      for value in (7, False, 0, "", {}, [1, 0], [True], [True, None])),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), BAD)
def test_a_row_that_cannot_be_used_is_named(tmp_path, given, expected):
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps({"id": "d0", "candidates": ["a", "b"]} | given))
    with pytest.raises(BridoError) as caught:
        read_candidates(path, ["d0"], 2, "own")
    assert expected in str(caught.value)


def test_a_file_that_cannot_be_used_is_named_with_all_its_problems(tmp_path):
    path = tmp_path / "c.jsonl"

    def refused(where=path, ids=("d0",), text=TEXT):
        path.write_text(text)
        with pytest.raises(BridoError, match=str(where)) as caught:
            read_candidates(where, list(ids), 3, "own")
        return str(caught.value)

    said = refused(ids=["d0", "d9", "\x1b[31m", "x" * 100_000])
    assert "3 documents have no candidates: d9" in said
    assert "`candidates` has 2 texts, not 3 (generation.own.num_candidates): 1 (d0 " in said
    assert "\x1b" not in said
    assert len(said) < 600
    assert "id was seen before: 3 (d0 (c.jsonl line 4)" in refused(text=TEXT + TEXT)
    assert "`candidates` is missing. It has the keys id, texts" in refused(
        text='{"id": "d0", "texts": []}'
    )
    (tmp_path / "c.csv").write_text("id,candidates\nd0,a\n")
    assert "`candidates` is a text" in refused(tmp_path / "c.csv")
    assert "no such file" in refused(tmp_path / "none.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    for other in (tmp_path / "pipe.jsonl", tmp_path):
        assert "a folder, a pipe" in refused(other)
