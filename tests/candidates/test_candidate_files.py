"""Candidates from files: every form that a corpus may have, every problem named."""

import gzip
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from brido.candidates.files import read_candidates
from brido.utils.errors import BridoError

ROWS = [{"id": f"d{number}", "candidates": ["One.", f"Two {number}."]} for number in range(3)]
TEXT = "".join(json.dumps(row) + "\n" for row in ROWS)


def zstd(content: bytes) -> bytes:
    return pa.Codec("zstd").compress(content, asbytes=True)


def parquet(path) -> bytes:
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path.read_bytes()


@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "c.ndjson.gz", "c.jsonl.zst", "c.parquet"])
def test_every_form_of_a_corpus_is_read(tmp_path, name):
    path = tmp_path / name
    content = parquet(path) if name.endswith("parquet") else f"\ufeff{TEXT}".encode()
    content = gzip.compress(content) if name.endswith("gz") else content
    path.write_bytes(zstd(content) if name.endswith("zst") else content)
    found = read_candidates(path, ["d2", "d0"], 2, "own")
    assert [(row["id"], row["candidates"][1]) for row in found] == [
        ("d2", "Two 2."), ("d0", "Two 0.")
    ]  # fmt: skip


def not_utf8(path):
    text = pa.array([b"ok", b"\xff\xfe"]).view(pa.string())
    pq.write_table(pa.table({"id": text, "candidates": pa.array([["a"], ["b"]])}), path)


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
            "1 rows have not as many numbers in `search_scores`",
        ),
        (
            "c.jsonl",
            b'{"id": "d0", "candidates": ["a", "b"], "ended": 7}\n',
            "1 rows have not as many truth values in `ended`",
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
        ("c.jsonl.gz", gzip.compress(TEXT.encode() * 50, mtime=0)[:-9], "is unreadable"),
        (
            "c.jsonl.gz",
            gzip.compress(TEXT.encode(), mtime=0)[:7] + b"????",
            "is unreadable",
        ),
        ("c.jsonl.zst", zstd(TEXT.encode() * 50)[:40], "is unreadable"),
        ("c.jsonl.zst", b"\x28\xb5\x2f\xfd", "c.jsonl.zst"),
        ("c.txt", TEXT.encode(), "its ending says no format"),
        ("c.parquet", not_utf8, "is no readable Parquet file after row"),
        ("c.jsonl", lambda path: path.mkdir(), "is unreadable"),
        ("c.parquet", lambda path: path.mkdir(), "is no readable Parquet file"),
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
