"""Every command's output: one rule for what is there already, whole files, stdout as data."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from brido.cli.main import group
from brido.cli.rows import standard_input
from brido.utils.errors import BridoError
from brido.utils.outputs import check_output, output_text

RECORD = {"id": "a", "document": "A cat sat on a mat in Ashwick.", "summary": "A cat sat.",
          "candidates": ["The cat sat.", "A cat sat.", "Dogs bark."]}  # fmt: skip
LINES = "".join(json.dumps(RECORD | {"id": str(n)}) + "\n" for n in range(3))
SCORED = json.dumps(RECORD | {"scores": [0.3, 0.2, 0.1], "order": [0, 1, 2]}) + "\n"
COMMANDS = {
    "score": (["score", "in.jsonl"], LINES),
    "export-pairs": (["export-pairs", "in.jsonl"], SCORED),
    "evaluate": (["evaluate", "extractiveness", "in.jsonl"], LINES),
}
ROOT = Path(__file__).parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(group, arguments)


def refused(*arguments):
    """What the command says when it refuses."""
    done = run(*arguments)
    assert isinstance(done.exception, BridoError), done.output
    return str(done.exception)


def shell(arguments, **environment):
    """Run the command as a shell does that redirects its input or output."""
    return subprocess.run(
        f"{sys.executable} -m brido {arguments}", shell=True, env=ENVIRONMENT | environment,
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


@pytest.mark.parametrize("command", [*COMMANDS, "summarize"])
def test_a_file_that_is_there_is_replaced_with_force_alone(command, folder):
    arguments, content = COMMANDS.get(command, (["summarize", "--model", "none"], ""))
    (folder / "in.jsonl").write_text(content)
    (folder / "out.jsonl").write_text("mine")
    assert "--force" in refused(*arguments, "-o", "out.jsonl")
    assert (folder / "out.jsonl").read_text() == "mine"
    if command != "summarize":  # which needs a model: tests/cli/test_summarize_command.py
        assert run(*arguments, "-o", "out.jsonl", "--force").exit_code == 0
        found = (folder / "out.jsonl").read_text()
        assert len(found.splitlines()) == content.count("\n")
        assert run(*arguments, "-o", "-").stdout == found


@pytest.mark.parametrize(
    "name", ["folder.jsonl", "pipe.jsonl", "params.yaml", "in.jsonl/x.jsonl", "new.jsonl.gz"]
)
def test_what_is_not_a_file_of_json_lines_is_never_replaced(name, folder):
    (folder / "in.jsonl").write_text(LINES)
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    before = sorted((one.name, one.lstat()) for one in folder.iterdir())
    with pytest.raises(BridoError, match=re.escape(name)):
        check_output(Path(name), force=True)
    assert sorted((one.name, one.lstat()) for one in folder.iterdir()) == before


def test_a_link_stays_and_what_it_names_is_written(folder):
    (folder / "there").mkdir()
    (folder / "there/old.jsonl").write_text("old")
    (folder / "link.jsonl").symlink_to("there/old.jsonl")
    with output_text(Path("link.jsonl")) as text:
        text.write("new")
    assert (folder / "link.jsonl").is_symlink()
    assert (folder / "there/old.jsonl").read_text() == "new"
    assert os.listdir(folder / "there") == ["old.jsonl"]


def test_a_command_that_fails_leaves_nothing(folder):
    with pytest.raises(ZeroDivisionError), output_text(Path("out.jsonl")) as text:
        text.write(str(1 / 0))
    assert os.listdir() == []


def test_closed_streams_are_sentences(folder, monkeypatch):
    (folder / "in.jsonl").write_text(LINES)
    for redirection, word in (("<&-", "stdin"), (">&-", "stdout")):
        name = "-" if word == "stdin" else "in.jsonl"
        done = shell(f"score {name} {redirection}")
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {word} is closed")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(BridoError, match="stdin"):
        standard_input()


def test_data_are_utf8_on_a_terminal_that_is_not(folder):
    texts = {"candidates": ["Der Löwe schläft — 眠る。", "Ein Löwe."]}
    (folder / "in.jsonl").write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8")
    done = shell("score in.jsonl", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["candidates"] == texts["candidates"]
