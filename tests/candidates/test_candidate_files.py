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


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("c.jsonl", b'{"id": "d\\ud800", "candidates": ["a", "b"]}\n', "half of a surrogate pair"),
        ("c.jsonl", b'{"id": "d0", "candidates": ["a", "\\udfff"]}\n', "half of a surrogate pair"),
        ("c.jsonl", b'{"id": "d0", "candidates": "ab"}\n', "have no list of 2 texts"),
        ("c.jsonl", b'{"id": 3, "candidates": ["a", "b"]}\n', "row 1: columns `id` (text)"),
        (
            "c.jsonl",
            b'{"id": "d0", "candidates": ["a", "b"], "search_scores": "ab"}\n',
            "in `search_scores`: d0",
        ),
        (
            "c.jsonl",
            b'{"id": "d0", "candidates": ["a", "b"], "ended": 7}\n',
            "in `ended`: d0",
        ),
        *(
            ("c.jsonl", json.dumps({"id": "d0", "candidates": ["a", "b"]} | given).encode(), name)
            for name, values in (
                ("search_scores", (False, 0, "", {}, [True, False], [1, 10**400], [1, None])),
                ("ended", (False, 0, "", {}, [1, 0], [True, None])),
            )
            for given in ({name: value} for value in values)
        ),
        ("c.jsonl", os.mkfifo, "is not a file"),
        ("c.jsonl", lambda path: None, "there is no such file"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path, name, content, expected):
    path = tmp_path / name
    content(path) if callable(content) else path.write_bytes(content)
    with pytest.raises(BridoError) as caught:
        read_candidates(path, ["d0"], 2, "own")
    assert expected in str(caught.value)


@pytest.mark.parametrize("value", [None, []])
def test_scores_and_ends_may_be_left_out(tmp_path, value):
    row = {"id": "d0", "candidates": ["a", "b"], "search_scores": value, "ended": value}
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
