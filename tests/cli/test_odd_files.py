"""Inputs of every kind, as strangers name and write them: read alike by every command."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from brido.cli.main import group
from brido.utils.errors import BridoError

ROW = {"document": "A cat sat.", "summary": "A cat.", "candidates": ["The cat sat.", "A cat sat."]}
ROWS = [ROW | {"id": name} for name in ("007", "NA", "3.0")]
COMMANDS = (["score"], ["vote-check"], ["evaluate", "extractiveness"])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(group, arguments)


def refused(*arguments):
    done = run(*arguments)
    assert isinstance(done.exception, BridoError), done.output
    return str(done.exception)


def as_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


FORMS = {
    "lines.jsonl": as_lines(ROWS).encode(),
    "lines.ndjson": as_lines(ROWS).encode("utf-8-sig"),
    "blank.JSON": b"\n \n" + as_lines(ROWS).encode() + b"\n",
    "wide.jsonl": as_lines(ROWS).encode("utf-16"),
    "array.json": json.dumps(ROWS, indent=1).encode(),
    "packed.jsonl.gz": gzip.compress(as_lines(ROWS).encode()),
    "parts.jsonl.gz": gzip.compress(as_lines(ROWS[:1]).encode())
    + gzip.compress(as_lines(ROWS[1:]).encode()),
    "packed.jsonl.zst": pa.Codec("zstd").compress(as_lines(ROWS).encode(), asbytes=True),
}


def ids(name):
    done = run("evaluate", "extractiveness", name, "-o", "-")
    assert done.exception is None, done.output
    return [json.loads(line)["id"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_json_are_read_alike(folder, name):
    (folder / name).write_bytes(FORMS[name])
    (folder / "plain.jsonl").write_text(as_lines(ROWS))
    assert ids(name) == [row["id"] for row in ROWS]
    assert run("score", name).stdout == run("score", "plain.jsonl").stdout
    assert run("vote-check", name).stdout == run("vote-check", "plain.jsonl").stdout


def test_ids_of_tables_stay_texts(folder):
    rows = [{name: row[name] for name in ("id", "document", "summary")} for row in ROWS]
    for name, sign in (("rows.csv", ";"), ("comma.csv", ","), ("rows.tsv", "\t")):
        lines = [rows[0], *(row.values() for row in rows)]
        (folder / name).write_text("\n".join(sign.join(line) for line in lines))
        assert ids(name) == ["007", "NA", "3.0"]
    pq.write_table(pa.Table.from_pylist(rows), "rows.parquet")
    assert ids("rows.parquet") == ["007", "NA", "3.0"]
    pq.write_table(pa.Table.from_pylist([row | {"id": 7} for row in rows[:1]]), "number.parquet")
    assert ids("number.parquet") == ["7"]


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_stdin_is_read_as_a_file_is_and_refused_alike(command, folder):
    (folder / "rows.jsonl").write_text(as_lines(ROWS))
    expected = run(*command, "rows.jsonl").stdout
    for name in ("lines.jsonl", "wide.jsonl", "array.json"):
        done = CliRunner().invoke(group, [*command, "-"], input=FORMS[name])
        assert done.stdout == expected
    done = CliRunner().invoke(group, command, input=FORMS["packed.jsonl.gz"])
    assert "not text in UTF-8" in str(done.exception)
