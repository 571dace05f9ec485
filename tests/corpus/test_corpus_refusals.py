"""A user's files that cannot be used: where and why, and nothing is written."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_files import corpus, row, three, write

from brido.utils.errors import BridoError
from brido.utils.rows import NOT_UNICODE


def refused(folder: Path, data: dict | None = None, **files: object) -> str:
    """The message of the refusal; nothing may have been written."""
    with pytest.raises(BridoError) as caught:
        corpus(folder, data, **files)
    assert not (folder / "corpus").exists()
    return str(caught.value)


PROGRAM = "is a list, an object or bytes as a program writes them, not a text"
# A row (an object, or the bytes of its line), and what its fault is called.
BAD_ROWS = [
    (row(1, document=None), "document is null"),
    (row(1, document=" \u200b\n\t"), "document is blank"),
    (row(1, summary="nan"), "summary is nan, the mark of a missing or wrong value"),
    (row(1, document="['One.', 'Two.']"), f"document {PROGRAM}"),
    (row(1, document="b'One. Two.' "), f"document {PROGRAM}"),
    (row(1, summary='{"text": ["A.",\n "B."]}'), f"summary {PROGRAM}"),
    (row(1, summary=12.5), "summary is a number, not a text"),
    (row(1, document=[{"turn": "One."}]), "document is a list, not a text"),
    (row(1, refs=[1]), "references are not a list of texts"),
    (row(1, refs="['One.', \"It's two.\"]"), "references are a list as Python writes it, not as "
     "JSON does"),
    (row(1, id="a0"), "id was seen before"),
    (row(1, id=None), "id is null or blank"),
    (row(1, id=True), "id is not a text or number"),
    (row(1, document="Same  text.", summary="Same text."), "document is its own summary"),
    (row(1, other="half \ud800 pair"), NOT_UNICODE),
    (b'{"id": "b", "document": "T', "not JSON, one object a line (Invalid control character at)"),
    (b'{"id": "b", "document": "caf\xe9", "summary": "S."}', NOT_UNICODE),
    (b'{"id": "b", "summary": "One.", "summary": "Two."}', "not JSON, one object a line (the "
     "key 'summary' occurs twice in one object)"),
    (b'["a"]', "a JSON object is expected, not a list"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "reason"), BAD_ROWS, ids=[reason for _, reason in BAD_ROWS])
def test_a_bad_row_is_counted_and_named_and_refused_or_left_out(
    tmp_path: Path, bad: dict | bytes, reason: str
):
    # As JSON writes it: half of a surrogate pair is an escape, not a character.
    path = tmp_path / "rows.jsonl"
    lines = [
        item if isinstance(item, bytes) else json.dumps(item).encode()
        for item in [row(0), bad, row(2), row(3)]
    ]
    path.write_bytes(b"\n".join(lines))
    paths = three(tmp_path, path, refs=[]) | {"references_column": "refs"}
    message = refused(tmp_path, **paths)
    assert "train: 1 of 4 rows are bad (25.00%" in message
    assert f"{reason}: 1 (" in message
    assert "rows.jsonl line 2" in message
    assert "data.max_bad_fraction" in message
    found = corpus(tmp_path, {"max_bad_fraction": 0.25}, **paths)
    assert [item["id"] for item in found["train"]] == ["a0", "a2", "a3"]
    record = json.loads((tmp_path / "corpus" / "source.json").read_text())
    assert record["splits"]["train"] == {"documents": 3, "left_out": {reason: 1}}


def as_parquet(*columns: tuple[str, str | bytes]) -> bytes:
    """A table of one row; a name may stand twice."""
    stream = pa.BufferOutputStream()
    values = [pa.array([value]) for _, value in columns]
    pq.write_table(pa.table(values, names=[name for name, _ in columns]), stream)
    return stream.getvalue().to_pybytes()


GOOD = b'{"document": "T.", "summary": "S."}\n'
# The name of a file, its bytes, and what the message says of it.
BAD_FILES = [
    ("r.jsonl", b"", "r.jsonl has no rows"),
    ("r.jsonl", b"{}\n", "r.jsonl has no column 'document', only []"),
    ("r.csv", b"document,summary_1\nT.,S.\n", "did you mean summary_1?"),
    ("r.csv", b"document,summary\na,b\nonly\n", "1 fields, but the header has 2"),
    ("r.jsonl.gz", gzip.compress(GOOD * 99, mtime=0)[:-12], "cannot be read behind row"),
    ("r.txt", b"A text.", "known are .jsonl, .ndjson, .json, .csv, .tsv, .parquet"),
    ("r.parquet", b"PAR1 cut off", "r.parquet cannot be read: "),
    ("r.parquet", as_parquet(("document", "Gr\u00fc\u00dfe.".encode("latin-1")), ("summary", "S.")),
     "document is bytes, not a text: 1 (r.parquet row 1)"),
    ("r.csv", b"PK\x03\x04\x14\0 and more", "not text in UTF-8"),
    ("r.csv", "document;summary\n\u00e4;b\n".encode("utf-16-le"), "not text in UTF-8"),
    ("r.csv", b"document;summary\na;b;c\n", "contains ';'"),
    ("r.csv", b"sep=;\ndocument;summary\na;b\n", "only ['sep=', '']"),
    ("r.json", b'{\n "document": "T.",\n\n', "one object a line"),
    ("r.json", b'[{"document": "T."', "r.json cannot be read: "),
    ("r.json", b'[{"a": 1, "a": 1}]', "occurs twice"),
    ("r.json", b"[1, 2]", "a JSON object is expected, not a number: 2 (r.json item 1, "),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "named"), BAD_FILES)
def test_a_file_that_cannot_be_read_says_where_and_why(
    tmp_path: Path, name: str, content: bytes, named: str
):
    path = tmp_path / name
    path.write_bytes(content)
    message = refused(tmp_path, **three(tmp_path, path))
    assert named in message
    assert path.name in message


def test_wrong_names_and_overlaps_stand_in_one_message(tmp_path: Path):
    path = str(write(tmp_path / "rows.jsonl", [row(1)]))
    message = refused(tmp_path, train=[path, path], validation="nowhere/*.csv", id_column="key")
    assert "no file matches nowhere/*.csv" in message
    assert "is named more than once" in message
    assert "rows.jsonl has no column 'key'" in message
    assert "is named more than once" in refused(tmp_path, train=path, test=path)
    message = refused(tmp_path, train=path, references_column="ref")
    assert "data.files.references_column: no file has a column 'ref'" in message
    # All splits' problems together.
    blank = str(write(tmp_path / "blank.jsonl", [row(1, summary="")]))
    message = refused(tmp_path, train=blank)
    assert "summary is blank: 1 (a1 (blank.jsonl line 1))" in message
    assert "validation: the split is empty" in message
