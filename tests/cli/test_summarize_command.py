"""`brido summarize`: its lines, rows left out, files that go on, projects, bad input."""

import errno
import json
import os
import sys
from contextlib import contextmanager

import pytest
import small_project
from standard_input import stdin

from brido.cli.main import main
from brido.models.settings import ReadingSettings
from brido.summarizer import Summarizer
from brido.summarizer.usage import Usage, write_usage
from brido.summarizer.writer import SummaryWriter
from brido.utils.errors import run_command

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


def test_lines_are_those_of_the_summarizer_in_order(tmp_path, model, expected, capsys, monkeypatch):
    content = as_json_lines({"id": f"d{n}", "text": text} for n, text in enumerate(TEXTS))
    (tmp_path / "a.jsonl").write_text(content)
    for arguments in (["a.jsonl"], ["a.jsonl", "-o", "-"], []):
        monkeypatch.setattr(sys, "stdin", stdin(content))
        assert summarize(*arguments, "--model", model, *SPEED) == 0
        out, err = capsys.readouterr()
        found = lines(out)
        assert [row["id"] for row in found] == [f"d{n}" for n in range(7)]
        assert [row["summary"] for row in found] == expected
        assert list(found[0])[:6] == ["id", "summary", "ended", "cut", "unsupported", "flaw"]
        assert "7 summaries to stdout" in err
        assert "system vote" in err
        assert "Keep vote." in err


def test_columns_of_the_user_stand_before_those_that_are_added(tmp_path, model, capsys):
    rows = [{"key": n, "text": text, "summary": "Hers.", "topic": None}
            for n, text in enumerate(TEXTS)]  # fmt: skip
    (tmp_path / "a.jsonl").write_text(as_json_lines(rows) + '{"key": 7, "text": "w1", "x": NaN}\n')
    options = ("--id-column", "key", "--keep-columns")
    assert summarize("a.jsonl", "--model", model, *SPEED, *options) == 2
    assert "JSON cannot" in capsys.readouterr().err
    assert summarize("a.jsonl", "--model", model, *SPEED, *options, "--max-bad", "0.2") == 0
    found = lines(capsys.readouterr().out)
    for row, line in zip(rows, found, strict=True):
        assert list(line)[:5] == ["key", "text", "given_summary", "topic", "id"]
        assert (line["key"], line["id"], line["given_summary"]) == (
            row["key"],
            str(row["key"]),
            "Hers.",
        )
        assert line["text"] == row["text"]


@contextmanager
def stopping(error):
    """The error comes when two chunks are there."""
    done, write = [], SummaryWriter.write

    def stopped(self, chunk, checked):
        if len(done) == 2:
            raise error
        done.append(chunk)
        return write(self, chunk, checked)

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
    capsys.readouterr()
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


def test_a_project_uses_its_choice_or_a_system_that_is_named(tmp_path, capsys):
    small_project.write_project(tmp_path)
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    assert summarize("a.txt") == 2
    assert "brido.json is missing" in capsys.readouterr().err
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
        (["a.txt", "--model", "M", "--system", "base"], ["--model", "--system"]),
        (["b.txt", "c", "empty", "--model", "M"], ["b.txt", "c cannot", "empty"]),
        (["a.pdf", "--model", "M"], [".jsonl", "--text"]),
        (["blank.jsonl", "--model", "M"], ["2 of 2 rows are bad", "line 1"]),
        (["odd.jsonl", "--model", "M"], ["keys body_text", "--document-column"]),
        (["a.txt", "--model", "M", "--guided"], ["guidance needs 4 other"]),
        (["a.txt", "--model", "M", "--candidates", "4", "--num-beams", "2"], ["--num-beams"]),
        (["a.txt", "--model", "M", "--resume"], ["--output"]),
        (["a.txt", "--model", "M", "-o", "blank.jsonl"], ["is there already", "--force"]),
        (["a.txt", "--model", "M", "-o", "a.txt/s.jsonl"], ["cannot be written"]),
        (["a.txt", "--model", "M", "--max-source-tokens", "400"], ["40 positions"]),
        (["a.txt", "--model", "M", "--prompt", "Summarize it."], ["--prompt", "{{ document }}"]),
        (["a.txt", "--model", "M", "--prompt", "\udce9 {{ document }}"], ["--prompt", "UTF-8"]),
    ],
)
def test_bad_input_is_one_error(tmp_path, model, capsys, arguments, words):
    (tmp_path / "a.txt").write_text("w1 w2\nw3")
    (tmp_path / "a.pdf").write_text("%PDF")
    (tmp_path / "blank.jsonl").write_text('{"document": ""}\n{"document": null}\n')
    (tmp_path / "odd.jsonl").write_text('{"body_text": "w1"}\n')
    (tmp_path / "empty").mkdir()
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
