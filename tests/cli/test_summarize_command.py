"""`brido summarize`: kinds of input, rows left out, files that go on, projects, bad input."""

import datetime
import errno
import gzip
import io
import json
import os
import sys
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_project
from standard_input import stdin

from brido.cli.main import main
from brido.cli.summarize.documents import GivenDocuments
from brido.models.settings import ReadingSettings
from brido.summarizer import Summarizer
from brido.summarizer.usage import Usage, write_usage
from brido.summarizer.writer import SummaryWriter
from brido.utils.errors import BridoError, run_command

SHORT = ReadingSettings(max_source_tokens=20)
TEXTS = [small_project.document(number) for number in range(7)]
SPEED = ("--device", "cpu", "--shard-documents", "2")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command") / "model"
    small_project.write_checkpoint(folder)
    write_usage(folder, Usage(reading=SHORT, system="vote", verdict="Keep vote."))
    return folder


@pytest.fixture(scope="module")
def expected(model):
    """The summaries of TEXTS, in pairs as `--shard-documents 2` makes them."""
    own = Summarizer.load(model, device="cpu")
    pairs = [own.summarize(TEXTS[start : start + 2]) for start in range(0, 7, 2)]
    return [summary.text for pair in pairs for summary in pair]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def summarize(*arguments):
    """The exit code of the command."""
    command = ["summarize", *map(str, arguments)]
    try:
        run_command(lambda: main(command))
    except SystemExit as end:
        return end.code
    return 0


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def as_json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def files(folder):
    """The same documents as files of every kind: name -> ids that are expected."""
    rows = [{"id": f"d{n}", "article": text, "n": n} for n, text in enumerate(TEXTS)]
    ids = [row["id"] for row in rows]
    numbers = [*"1234567"]
    (folder / "a.jsonl").write_text(as_json_lines(rows))
    (folder / "a.json").write_text(json.dumps(rows, indent=1))
    (folder / "a.csv").write_text(
        "id,text\n" + "".join(f"{r['id']},{r['article']}\n" for r in rows)
    )
    (folder / "a.tsv").write_text("document\n" + "".join(f"{text}\n" for text in TEXTS))
    (folder / "a.txt").write_bytes(b"\xef\xbb\xbf" + "\n".join(TEXTS).encode())
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(as_json_lines(rows).encode()))
    columns = {"id": ids, "dialogue": TEXTS}
    pq.write_table(pa.table(columns), folder / "a.parquet")
    return {
        "a.jsonl": ids, "a.json": ids, "a.csv": ids, "a.tsv": numbers,
        "a.txt": numbers, "a.jsonl.gz": ids, "a.parquet": ids,
    }  # fmt: skip


def test_every_kind_of_file_gives_the_same_lines_in_order(tmp_path, model, expected, capsys):
    for name, ids in files(tmp_path).items():
        assert summarize(name, "--model", model, *SPEED) == 0
        out, err = capsys.readouterr()
        found = lines(out)
        assert [row["id"] for row in found] == ids, name
        assert [row["summary"] for row in found] == expected, name
        assert list(found[0]) == ["id", "summary", "ended", "cut", "unsupported"]
        assert "7 summaries to stdout" in err
        assert "system vote" in err
        assert "Keep vote." in err


@pytest.mark.parametrize(
    "content", [as_json_lines({"text": text} for text in TEXTS), "\n\n".join(TEXTS)]
)
def test_stdin_is_json_lines_or_texts(model, expected, capsys, monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", stdin(content))
    assert summarize("--model", model, *SPEED) == 0
    found = lines(capsys.readouterr().out)
    assert [row["summary"] for row in found] == expected
    assert found[1]["id"] == "2"


def test_an_array_on_stdin_is_rows_and_a_text_with_a_bracket_is_a_text(monkeypatch):
    rows = [{"id": f"d{number}", "text": text} for number, text in enumerate(TEXTS)]
    expected = [(f"d{number}", text) for number, text in enumerate(TEXTS)]
    for content in (json.dumps(rows), json.dumps(rows, indent=1)):
        monkeypatch.setattr(sys, "stdin", stdin(content))
        assert [tuple(named) for named in GivenDocuments(())] == expected
    monkeypatch.setattr(sys, "stdin", stdin("[music] w1"))
    assert [tuple(named) for named in GivenDocuments(())] == [("1", "[music] w1")]
    for content in (as_json_lines(rows), json.dumps(rows)):
        monkeypatch.setattr(sys, "stdin", stdin(content.encode("utf-16")))
        assert [tuple(named) for named in GivenDocuments(())] == expected


def test_an_array_without_objects_on_stdin_is_no_text(monkeypatch):
    for content in (json.dumps(TEXTS), json.dumps(TEXTS, indent=1)):
        monkeypatch.setattr(sys, "stdin", stdin(content))
        documents = GivenDocuments(())
        assert list(documents) == []
        assert "a JSON object is expected, not a text: 7 (stdin item 1" in documents.left_out.text()
    monkeypatch.setattr(sys, "stdin", stdin("[]"))
    with pytest.raises(BridoError, match="empty array"):
        list(GivenDocuments(()))


def test_a_document_that_is_a_list_of_sentences_is_joined_as_in_a_run(tmp_path):
    (tmp_path / "a.jsonl").write_text(as_json_lines([{"text": ["w1 w2.", "w3."]}, {"text": [3]}]))
    documents = GivenDocuments(["a.jsonl"])
    assert [named.document for named in documents] == ["w1 w2. w3."]
    assert len(documents.left_out) == 1


def test_files_of_one_name_in_two_folders_have_ids_of_their_own(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("w1\n")
    (tmp_path / "b.txt").write_text("w1\n")
    names = ["x/a.txt", "y/a.txt", "b.txt"]
    assert [named.id for named in GivenDocuments(names, whole=True)] == names
    assert [named.id for named in GivenDocuments(names)] == ["x/a.txt:1", "y/a.txt:1", "b.txt:1"]


def test_whole_files_are_documents_and_rows_of_several_files_keep_apart(tmp_path, model, capsys):
    for number in (0, 1):
        words = TEXTS[number].split()
        (tmp_path / f"{number}.txt").write_text(" ".join(words[:3]) + "\n" + " ".join(words[3:]))
    assert summarize("0.txt", "1.txt", "--text", "--model", model, *SPEED) == 0
    whole = lines(capsys.readouterr().out)
    assert [row["id"] for row in whole] == ["0.txt", "1.txt"]
    own = Summarizer.load(model, device="cpu").summarize(TEXTS[:2])
    assert [row["summary"] for row in whole] == [each.text for each in own]
    assert summarize("0.txt", "1.txt", "--model", model, *SPEED) == 0
    assert [row["id"] for row in lines(capsys.readouterr().out)] == [
        "0.txt:1", "0.txt:2", "1.txt:1", "1.txt:2"
    ]  # fmt: skip


def test_a_list_that_was_written_as_text_is_no_document(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n1,\"['w1', 'w2']\"\n2,['w1'] w2\n3,nan\n")
    documents = GivenDocuments(["a.csv"])
    assert [tuple(named) for named in documents] == [("2", "['w1'] w2")]
    assert "`text` is a list as Python writes it" in documents.left_out.text()
    assert "`text` is nan, the mark of a missing or wrong value" in documents.left_out.text()


def test_a_name_that_is_not_utf_8_is_an_id(tmp_path, model):
    for name in (b"a\xe9.txt", b"b.txt"):
        (tmp_path / os.fsdecode(name)).write_text("w1 w2")
    names = [os.fsdecode(b"a\xe9.txt"), "b.txt"]
    assert [named.id for named in GivenDocuments(names[:1], whole=True)] == ["a\\xe9.txt"]
    assert summarize(*names, "--model", model, *SPEED, "-o", "s.jsonl") == 0
    written = lines((tmp_path / "s.jsonl").read_text())
    assert [row["id"] for row in written] == ["a\\xe9.txt:1", "b.txt:1"]


def test_stdout_is_utf_8_whatever_the_terminal_knows(tmp_path, model, capsys, monkeypatch):
    (tmp_path / "a.jsonl").write_text('{"id": "\u00e9\u2019", "document": "w1 w2"}')
    for encoding in ("ascii", "latin-1"):
        written = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
        assert summarize("a.jsonl", "--model", model, *SPEED) == 0
        assert [row["id"] for row in lines(written.getvalue().decode())] == ["\u00e9\u2019"]
    monkeypatch.setattr(sys, "stdout", None)
    assert summarize("a.jsonl", "--model", model, *SPEED) == 2
    assert "stdout is closed" in capsys.readouterr().err


def test_broken_rows_are_named_counted_and_left_out(tmp_path, model, capsys):
    rows = [
        *('{"id": 5, "document": "w1 w2"}', "{", '{"document": " "}', '{"document": 3}', "[1]"),
        *('{"text": "w1"}', '{"document": "\\ud800"}', '{"id": null, "document": "w1 w2"}'),
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    assert summarize("a.jsonl", "--model", model, *SPEED) == 1
    out, err = capsys.readouterr()
    assert [row["id"] for row in lines(out)] == ["5"]
    assert "7 rows are left out" in err
    for number in range(2, 9):
        assert f"a.jsonl line {number}" in err


def test_ids_are_the_rows_own_whatever_type_they_have(tmp_path):
    dates = [datetime.date(2024, 1, 2), None]
    pq.write_table(pa.table({"ID": dates, "text": ["a", "b"]}), tmp_path / "a.parquet")
    rows = ['{"id": "007", "text": "c"}', '{"id": 7, "text": "d"}', '{"id": "007", "text": "e"}']
    (tmp_path / "b.jsonl").write_text("\n".join([*rows, '{"text": "f"}']))
    # pandas' index has no name.
    (tmp_path / "c.csv").write_text(",text\n7,e\n9,f\n")
    given = [GivenDocuments([str(tmp_path / name)]) for name in ("a.parquet", "b.jsonl", "c.csv")]
    read = [[each.id for each in documents] for documents in given]
    assert read == [["2024-01-02"], ["007", "7", "4"], ["1", "2"]]
    assert "id is null or blank: 1 (a.parquet row 2)" in given[0].left_out.text()
    assert "id was seen before: 1 (b.jsonl line 3)" in given[1].left_out.text()


def test_ids_do_not_meet_over_several_files(tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"id": 1, "text": "c"}\n{"id": "x", "text": "d"}\n')
        (tmp_path / f"{name[0]}.txt").write_text("c\nd\n")
    documents = GivenDocuments([str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")])
    assert [each.id for each in documents] == ["1", "x"]
    assert "id was seen before: 2 (b.jsonl line 1, b.jsonl line 2)" in documents.left_out.text()
    documents = GivenDocuments([str(tmp_path / name) for name in ("a.txt", "b.txt")])
    assert [each.id for each in documents] == ["a.txt:1", "a.txt:2", "b.txt:1", "b.txt:2"]


def test_a_text_of_another_encoding_ends_it_and_what_came_before_stays(tmp_path, model, capsys):
    (tmp_path / "b.txt").write_bytes("w1\nw2\nw1 é\nw3".encode("latin-1"))
    assert summarize("b.txt", "--model", model, *SPEED) == 2
    out, err = capsys.readouterr()
    assert [row["id"] for row in lines(out)] == ["1", "2"]
    for words in ("b.txt cannot be read: line 3", "0xe9", "2 summaries are on stdout"):
        assert words in err


def test_long_documents_are_cut_and_counted(tmp_path, model, capsys):
    (tmp_path / "a.txt").write_text("w1 w2\n" + "w1 w2 " * 18)
    assert summarize("a.txt", "--model", model, *SPEED) == 0
    out, err = capsys.readouterr()
    assert [row["cut"] for row in lines(out)] == [0.0, 0.5]
    assert "1 cut" in err
    assert "1 of 2 documents are longer than 20 tokens" in err
    assert "75 % of a document is read" in err
    assert "--max-source-tokens 40 reads more" in err
    assert "reading.default.max_source_tokens" in err
    assert summarize("a.txt", "--model", model, *SPEED, "--max-source-tokens", "40") == 0
    out, err = capsys.readouterr()
    assert [row["cut"] for row in lines(out)] == [0.0, 0.0]
    assert "max-source-tokens" not in err
    (tmp_path / "b.txt").write_text("w1 w2\n" + "w1 w2 " * 30)
    assert summarize("b.txt", "--model", model, *SPEED) == 0
    assert "--max-source-tokens 40 reads more" in capsys.readouterr().err
    assert summarize("b.txt", "--model", model, *SPEED, "--max-source-tokens", "40") == 0
    assert "can read no more" in capsys.readouterr().err


def test_candidates_have_an_agreement(tmp_path, model, capsys):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    assert summarize("a.txt", "--model", model, *SPEED, "--candidates", "4") == 0
    found = lines(capsys.readouterr().out)
    own = Summarizer.load(model, device="cpu", candidates=4)
    pairs = [own.summarize(TEXTS[start : start + 2]) for start in range(0, 7, 2)]
    expected = [summary.as_row() for pair in pairs for summary in pair]
    assert [{key: row[key] for key in row if key != "id"} for row in found] == expected


def test_guidance_and_other_settings(tmp_path, model, capsys):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    assert summarize("a.txt", "--model", model, "--device", "cpu", "--guided") == 0
    guided = [row["summary"] for row in lines(capsys.readouterr().out)]
    own = Summarizer.load(model, device="cpu", guided=True)
    ids = [str(number) for number in range(1, 8)]
    assert guided == [each.text for each in own.summarize(TEXTS, ids)]
    changes = {"max_length": 5, "num_beams": 1}
    options = ("--max-length", "5", "--num-beams", "1")
    assert summarize("a.txt", "--model", model, "--device", "cpu", *options) == 0
    found = [row["summary"] for row in lines(capsys.readouterr().out)]
    own = Summarizer.load(model, device="cpu", changes=changes)
    assert found == [each.text for each in own.summarize(TEXTS)]


@contextmanager
def stopping(error):
    """The error comes when two chunks are there."""
    done, write = [], SummaryWriter.write

    def stopped(self, chunk):
        if len(done) == 2:
            raise error
        done.append(chunk)
        return write(self, chunk)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SummaryWriter, "write", stopped)
        yield


@pytest.fixture
def stopped(tmp_path, model, capsys):
    """A file of which two chunks of two are there when Ctrl-C comes; the arguments."""
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    arguments = ("a.txt", "--model", model, *SPEED, "-o", "out/s.jsonl")
    with stopping(KeyboardInterrupt):
        assert summarize(*arguments) == 130
    assert "4 summaries are in out/s.jsonl.partial" in capsys.readouterr().err
    return arguments


def test_a_stopped_file_goes_on_and_ends_in_the_same_bytes(tmp_path, stopped, capsys):
    assert not (tmp_path / "out/s.jsonl").exists()
    partial = tmp_path / "out/s.jsonl.partial"
    assert len(lines(partial.read_text())) == 4
    # Killed inside of a write: the torn line is not of the file.
    partial.write_bytes(partial.read_bytes() + b'{"id": 5, "summ')
    assert summarize(*stopped) == 2
    assert "--resume" in capsys.readouterr().err
    assert summarize(*stopped, "--resume") == 0
    assert "4 documents are done" in capsys.readouterr().err
    assert summarize(*stopped[:-1], "whole.jsonl") == 0
    assert (tmp_path / "out/s.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["s.jsonl"]
    # What is there is not written over.
    assert summarize(*stopped, "--resume") == 2
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize("change", ["ids", "fewer", "no summary"])
def test_a_stopped_file_of_other_documents_is_refused(tmp_path, stopped, capsys, change):
    partial = tmp_path / "out/s.jsonl.partial"
    rows = [{"id": number, "text": text} for number, text in enumerate(TEXTS, 2)]
    name = stopped[0]
    if change == "ids":
        name = "b.jsonl"
        (tmp_path / name).write_text(as_json_lines(rows))
    elif change == "fewer":
        (tmp_path / name).write_text("\n".join(TEXTS[:2]))
    else:
        partial.write_bytes(partial.read_bytes() + b"{}\n")
    before = partial.read_bytes()
    assert summarize(name, *stopped[1:], "--resume") == 2
    assert "s.jsonl.partial" in capsys.readouterr().err
    assert partial.read_bytes() == before


def test_a_chunk_that_a_kill_has_torn_is_written_again(tmp_path, stopped, capsys):
    partial = tmp_path / "out/s.jsonl.partial"
    partial.write_bytes(partial.read_bytes()[:-1])
    assert summarize(*stopped, "--resume") == 0
    err = capsys.readouterr().err
    assert "2 documents are done already" in err
    assert "7 summaries to out/s.jsonl" in err
    assert summarize(*stopped[:-1], "whole.jsonl") == 0
    assert (tmp_path / "out/s.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_dash_is_stdout_and_a_link_to_nothing_is_refused(tmp_path, model, capsys):
    (tmp_path / "a.txt").write_text("w1 w2")
    assert summarize("a.txt", "--model", model, *SPEED, "-o", "-") == 0
    assert len(lines(capsys.readouterr().out)) == 1
    (tmp_path / "dead.jsonl").symlink_to("nowhere.jsonl")
    assert summarize("a.txt", "--model", model, *SPEED, "-o", "dead.jsonl") == 2
    assert "link to nothing" in capsys.readouterr().err
    assert not (tmp_path / "nowhere.jsonl").exists()


def test_a_project_uses_its_choice_or_a_system_that_is_named(tmp_path, capsys):
    small_project.write_project(tmp_path)
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    assert summarize("a.txt") == 2
    assert "data/chosen is missing" in capsys.readouterr().err
    assert summarize("a.txt", "--system", "base") == 0
    out, err = capsys.readouterr()
    base = lines(out)
    assert "system base" in err
    small_project.write_checkpoint(tmp_path / "data/chosen", seed=1)
    write_usage(tmp_path / "data/chosen", Usage(reading=SHORT, system="vote"))
    assert summarize("a.txt") == 0
    out, err = capsys.readouterr()
    assert "vote" in err
    assert "metrics/choice.json" in err
    assert [row["summary"] for row in lines(out)] != [row["summary"] for row in base]
    # Without it the documents would be read otherwise than in the run.
    (tmp_path / "data/chosen/brido.json").unlink()
    assert summarize("a.txt") == 2
    assert "brido.json" in capsys.readouterr().err
    for name, words in (("elected", "no model"), ("bas", "did you mean base")):
        assert summarize("a.txt", "--system", name) == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.txt"], ["no model", "--model"]),
        (["a.txt", "--model", "nowhere"], ["no such folder"]),
        (["a.txt", "--model", "empty"], ["config.json"]),
        (["a.txt", "--model", "M", "--system", "base"], ["--model", "--system"]),
        (["b.txt", "c", "empty", "--model", "M"], ["b.txt", "c cannot", "empty"]),
        (["a.txt", "./a.txt", "--model", "M"], ["more than once"]),
        (["a.pdf", "--model", "M"], [".jsonl", "--text"]),
        (["pipe", "--model", "M"], ["pipe", "stdin"]),
        (["blank.jsonl", "--model", "M"], ["no document", "all 2 rows", "line 1"]),
        (["none.txt", "--model", "M"], ["no document", "no row"]),
        (["odd.jsonl", "--model", "M"], ["keys body_text", "--document-column"]),
        (["a.txt", "--model", "M", "--document-column", "body"], ["body", "document"]),
        (["a.txt", "--model", "M", "--guided"], ["guidance needs 4 other"]),
        (["a.txt", "--model", "M", "--candidates", "4", "--num-beams", "2"], ["--num-beams", "4"]),
        (["a.txt", "--model", "M", "--resume"], ["--output"]),
        (["a.txt", "--model", "M", "-o", "empty"], ["must end in"]),
        (["a.txt", "--model", "M", "-o", "s.csv"], [".jsonl"]),
        (["a.txt", "--model", "M", "-o", "s.jsonl.gz"], ["pack"]),
        (["a.txt", "--model", "M", "-o", "blank.jsonl"], ["is there already", "--force"]),
        (["a.txt", "--model", "M", "-o", "a.txt/s.jsonl"], ["cannot be written"]),
        (["a.txt", "--model", "M", "--max-source-tokens", "400"], ["40 positions"]),
        (["a.txt", "--model", "M", "--max-source-tokens", "400", "-o", "s.jsonl"], ["positions"]),
        (["a.txt", "--model", "M", "--max-length", "1"], ["max_length"]),
        (["a.txt", "--model", "M", "--prompt", "Summarize it."], ["--prompt", "{{ document }}"]),
        (
            ["a.txt", "--model", "M", "--prompt", "In short: {document}"],
            ["{{ document }} in place"],
        ),
        (["a.txt", "--model", "M", "--prompt", "{{ body }} {{ document }}"], ["--prompt", "body"]),
        (["a.txt", "--model", "M", "--prompt", "\udce9 {{ document }}"], ["--prompt", "UTF-8"]),
        (["a.txt", "--model", "M", "--batch-tokens", "0"], ["--batch-tokens"]),
        (["a.txt", "--model", "M", "--device", "cuda:99"], ["cuda:99"]),
        (["a.txt", "--model", "encoder"], ["encoder", "bert", "does not write text"]),
    ],
)
def test_bad_input_is_one_error(tmp_path, model, capsys, arguments, words):
    (tmp_path / "a.txt").write_text("w1 w2\nw3")
    (tmp_path / "a.pdf").write_text("%PDF")
    (tmp_path / "none.txt").write_text("\n\n")
    (tmp_path / "blank.jsonl").write_text('{"document": ""}\n{"document": null}\n')
    (tmp_path / "odd.jsonl").write_text('{"body_text": "w1"}\n')
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder/config.json").write_text('{"model_type": "bert"}')
    before = sorted(path.name for path in tmp_path.iterdir())
    assert summarize(*(model if each == "M" else each for each in arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "error: " in err
    assert "Traceback" not in err
    for word in words:
        assert word in err
    # A file that was begun for nothing keeps nobody from trying again.
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_full_disk_keeps_what_is_there(tmp_path, model, capsys, monkeypatch):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    fsync, calls = os.fsync, []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return fsync(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        assert summarize("a.txt", "--model", model, *SPEED, "-o", "s.jsonl") == 2
    assert "--resume" in capsys.readouterr().err
    assert summarize("a.txt", "--model", model, *SPEED, "-o", "s.jsonl", "--resume") == 0
    assert len(lines((tmp_path / "s.jsonl").read_text())) == 7
