"""The documents of `brido summarize`: every kind of file, columns, ids, rows that are left out."""

import datetime
import gzip
import json
import sys
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from standard_input import stdin

from brido.cli.rows import good_rows
from brido.cli.summarize.documents import Columns, read_documents
from brido.utils.errors import BridoError

TEXTS = [f"w{number} w{number + 1}" for number in range(7)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(*files, max_bad=0.9, columns=None):
    """The ids and documents of the good rows."""
    names = list(files) or ["-"]
    reader = partial(read_documents, columns=columns or Columns(), several=len(names) > 1)
    with good_rows(names, lambda row: "", max_bad, "", reader, named=True) as rows:
        return [(row["id"], row["document"].strip()) for row in rows]


def as_json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def files(folder):
    """The same documents as files of every kind: name -> ids that are expected."""
    rows = [{"id": f"d{n}", "article": text, "n": n} for n, text in enumerate(TEXTS)]
    ids, numbers = [row["id"] for row in rows], [*"1234567"]
    (folder / "a.jsonl").write_text(as_json_lines(rows))
    (folder / "a.json").write_text(json.dumps(rows, indent=1))
    (folder / "a.csv").write_text(
        "id,text\n" + "".join(f"{r['id']},{r['article']}\n" for r in rows)
    )
    (folder / "a.tsv").write_text("document\n" + "".join(f"{text}\n" for text in TEXTS))
    (folder / "a.txt").write_bytes(b"\xef\xbb\xbf" + "\n\n".join(TEXTS).encode())
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(as_json_lines(rows).encode()))
    pq.write_table(pa.table({"id": ids, "dialogue": TEXTS}), folder / "a.parquet")
    return {
        "a.jsonl": ids, "a.json": ids, "a.csv": ids, "a.tsv": numbers,
        "a.txt": numbers, "a.jsonl.gz": ids, "a.parquet": ids,
    }  # fmt: skip


def test_every_kind_of_file_gives_the_same_documents_in_order(folder):
    for name, ids in files(folder).items():
        assert read(name) == list(zip(ids, TEXTS, strict=True)), name


def test_stdin_is_rows_or_texts(monkeypatch):
    rows = [{"id": f"d{number}", "text": text} for number, text in enumerate(TEXTS)]
    own = [(f"d{number}", text) for number, text in enumerate(TEXTS)]
    numbered = [(str(number), text) for number, text in enumerate(TEXTS, 1)]
    contents = {
        as_json_lines(rows): own, json.dumps(rows): own, json.dumps(rows, indent=1): own,
        as_json_lines({"text": text} for text in TEXTS): numbered, "\n\n".join(TEXTS): numbered,
        "[music] w1": [("1", "[music] w1")],
    }  # fmt: skip
    for content, expected in contents.items():
        for data in (content.encode(), content.encode("utf-16")):
            monkeypatch.setattr(sys, "stdin", stdin(data))
            assert read() == expected


def test_bytes_of_stdin_that_are_no_text_are_a_bad_row_or_named(monkeypatch):
    rows = b'{"text": "caf\xe9"}\n{"text": "w1"}\n'
    monkeypatch.setattr(sys, "stdin", stdin(rows))
    assert read() == [("2", "w1")]
    for data in (b"caf\xe9\n", b"\x89PNG\0"):
        monkeypatch.setattr(sys, "stdin", stdin(data))
        with pytest.raises(BridoError, match=r"^stdin cannot be read"):
            read()


def test_stdin_that_is_closed_is_a_sentence(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(BridoError, match="^stdin is closed"):
        read()


def test_ids_that_are_made_have_the_name_of_one_of_several_files(folder):
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("w1\n")
    assert read("a.txt", "b.txt") == [("a.txt:1", "w1"), ("b.txt:1", "w1")]


def test_columns_are_those_asked_for_or_of_the_run_or_usual_ones(folder):
    row = {"id": "i", "key": "k", "own": "o", "text": "w1", "body": "w2", "it": "w3"}
    (folder / "a.jsonl").write_text(json.dumps(row) + "\n")
    assert read("a.jsonl") == [("i", "w1")]
    learned = Columns(learned=("body", "key"))
    assert read("a.jsonl", columns=learned) == [("k", "w2")]
    assert read("a.jsonl", columns=learned._replace(document="it", id="own")) == [("o", "w3")]
    assert read("a.jsonl", columns=Columns(learned=("no", "none"))) == [("i", "w1")]


def test_ids_are_the_rows_own_whatever_type_they_have(folder, capsys):
    dates = [datetime.date(2024, 1, 2), None]
    pq.write_table(pa.table({"ID": dates, "text": ["a", "b"]}), "a.parquet")
    rows = ['{"id": "007", "text": "c"}', '{"id": 7, "text": "d"}', '{"id": "007", "text": "e"}']
    (folder / "b.jsonl").write_text("\n".join([*rows, '{"text": "f"}']))
    # pandas' index has no name.
    (folder / "c.csv").write_text(",text\n7,e\n9,f\n")
    for name, ids, said in (
        ("a.parquet", ["2024-01-02"], "id is null or blank: 1 (a.parquet row 2)"),
        ("b.jsonl", ["007", "7", "4"], "id was seen before: 1 (b.jsonl line 3)"),
        ("c.csv", ["1", "2"], ""),
    ):
        assert [one for one, _ in read(name)] == ids
        assert said in capsys.readouterr().err
    (folder / "d.jsonl").write_text(rows[0])
    with pytest.raises(BridoError, match=r"id was seen before: 2 \(b.jsonl line 3, d.jsonl line 1"):
        read("b.jsonl", "d.jsonl", max_bad=0)


def test_rows_that_hold_no_document_are_named(folder):
    rows = [
        *('{"document": "w1 w2"}', "{", '{"document": " "}', '{"document": 3}', "[1]"),
        *('{"text": "w1"}', '{"document": "\\ud800"}', '{"document": ["w1", "w2."]}'),
        *("{\"document\": \"['w1', 'w2']\"}", '{"document": "nan"}'),
    ]
    (folder / "a.jsonl").write_text("\n".join(rows))
    assert [text for _, text in read("a.jsonl")] == ["w1 w2", "w1 w2."]
    with pytest.raises(BridoError, match="8 of 10 rows are bad") as error:
        read("a.jsonl", max_bad=0.5)
    for number in (2, 3, 4, 5, 6, 7, 9, 10):
        assert f"a.jsonl line {number}" in str(error.value)
