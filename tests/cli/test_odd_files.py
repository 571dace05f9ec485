"""Inputs and outputs of every kind, as strangers name and write them."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from standard_input import stdin

from brido.cli.geval import read_summaries
from brido.cli.main import group
from brido.cli.qafacteval import read_documents
from brido.cli.score import command as score
from brido.utils.commands import invoke
from brido.utils.errors import BridoError
from brido.utils.files import read_records

ROW = {"id": "a", "document": "A cat sat.", "candidates": ["The cat sat.", "A cat sat."]}
ROWS = [ROW | {"id": str(number)} for number in range(3)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_lines(name, rows=ROWS):
    with open(name, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def refused(*arguments):
    done = CliRunner().invoke(group, arguments)
    assert isinstance(done.exception, BridoError), done.output
    return str(done.exception)


def scored(name):
    done = CliRunner().invoke(group, ["score", name])
    assert done.exception is None
    return [json.loads(line)["id"] for line in done.stdout.splitlines()]


def test_objects_of_several_lines_tables_and_other_encodings_are_read(folder):
    spread = [json.dumps(row, indent=2) for row in ROWS]
    (folder / "array.json").write_text(json.dumps(ROWS, indent=1))
    for encoding in ("utf-16", "utf-8-sig"):
        text = "\n".join(json.dumps(row) for row in ROWS)
        (folder / f"{encoding}.jsonl").write_text(text, encoding=encoding)
        assert scored(f"{encoding}.jsonl") == ["0", "1", "2"]
    (folder / "one.json").write_text(spread[0])
    (folder / "stream.json").write_text("\n".join(spread))
    (folder / "bom.json").write_bytes(b"\xef\xbb\xbf" + spread[0].encode())
    pq.write_table(pa.Table.from_pylist(ROWS), "rows.parquet")
    assert scored("one.json") == scored("bom.json") == ["0"]
    for name in ("array.json", "stream.json", "rows.parquet"):
        assert scored(name) == ["0", "1", "2"]
    assert read_records(folder / "stream.json") == ROWS
    (folder / "cut.json").write_text(spread[0] + "\n{\n")
    assert "one object a line" in refused("score", "cut.json")
    (folder / "rows.csv").write_text("id,candidates\na,b\n")
    assert "rows.csv" in refused("score", "rows.csv")
    (folder / "rows.jsonl").write_bytes(b"PK\x03\x04")
    assert "Excel" in refused("score", "rows.jsonl")


def test_texts_that_parquet_has_as_bytes_are_texts_and_other_bytes_are_refused():
    texts = [[text.encode() for text in row["candidates"]] for row in ROWS]
    pq.write_table(pa.table({"id": ["0", "1", "2"], "candidates": texts}), "bytes.parquet")
    done = CliRunner().invoke(group, ["score", "bytes.parquet"])
    assert json.loads(done.stdout.splitlines()[0])["candidates"] == ROW["candidates"]
    pq.write_table(pa.table({"candidates": texts, "image": [b"\xff"] * 3}), "image.parquet")
    assert "image.parquet row 1" in refused("score", "image.parquet")


def test_stdin_is_read_as_a_file_is(monkeypatch, capsys):
    def given(content, read):
        monkeypatch.setattr("sys.stdin", stdin(content))
        return read("-")

    def score_lines(name):
        invoke(score, [name])
        return capsys.readouterr().out.splitlines()

    # Rows that every command takes: score, geval and qafacteval.
    rows = [row | {"summary": "A cat sat.", "own": ""} for row in ROWS]
    readers = (score_lines, read_summaries, read_documents)
    lines = "\n".join(json.dumps(row) for row in rows)
    spread = "\n".join(json.dumps(row, indent=2) for row in rows)
    for read in readers:
        expected = given(lines, read)
        assert len(expected) == 3
        for content in (json.dumps(rows), json.dumps(rows, indent=1), spread):
            assert given(content, read) == given(content.encode("utf-16"), read) == expected
        with pytest.raises(BridoError, match="stdin is packed by gzip.*unpack it"):
            given(gzip.compress(lines.encode()), read)


def test_lines_of_another_encoding_are_named_with_the_way_out(folder):
    (folder / "rows.jsonl").write_bytes('{"candidates": ["caf\xe9", "b"]}\n'.encode("latin-1"))
    said = refused("score", "rows.jsonl")
    assert "line 1" in said
    assert "0xe9" in said
    assert "iconv" in said


@pytest.mark.parametrize("output", ["-", "~/x.jsonl", "~", "x.parquet", "x.csv", "x.tsv.gz"])
def test_outputs_whose_names_say_something_else(folder, output):
    write_lines("in.jsonl")
    assert output in refused("score", "in.jsonl", "-o", output)
    assert [path.name for path in folder.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("arguments", [("init", "own", "--minutes"), ("summarize", "--flag-below")])
def test_nan_is_not_a_number_of_an_option(arguments):
    done = CliRunner().invoke(group, [*arguments, "nan"])
    assert "nan is not a number" in done.output


def test_each_command_knows_what_it_writes():
    write_lines("in.jsonl")
    assert "Parquet" in refused("geval", "in.jsonl", "-o", "x.jsonl")
    assert "JSON lines" in refused("qafacteval", "in.jsonl", "-o", "x.parquet")
    assert "~" in refused("export", "model", "-o", "~/model")


def test_a_system_is_of_the_pipeline_and_not_of_a_file():
    write_lines("scored.jsonl", [ROW | {"scores": [0.2, 0.1], "order": [0, 1]}])
    command = ("export", "preferences", "--scores", "scored.jsonl")
    assert "--system" in refused(*command, "--system", "vote")
