"""What commands refuse: rows of files by their faults, and arguments, in one table each."""

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from brido.cli.main import group
from brido.utils.errors import BridoError

CANDIDATES = {"id": "good", "document": "A cat sat.", "candidates": ["a cat", "a dog", "b", "d"]}
VOTED = CANDIDATES | {"scores": [0.5, None, 0.75, 0.5]}
PAIR = {"id": "good", "document": "A text.", "summary": "A."}
# Arguments, a good row, and faults: a row's bytes or what changes in it, with words of the message.
FAULTS: dict[str, tuple[list[str], dict, list]] = {
    "score": (["--alpha", "1"], CANDIDATES | {"reference": "A cat."}, [
        (b"{", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"texts": []}', "`candidates` is missing.* texts"),
        ({"candidates": 5}, "`candidates` is a number, .* list of texts"),
        ({"candidates": ["a", 1]}, "must be texts: candidate 2 is a number"),
        ({"scores": [1]}, "already has scores"),
        ({"x": [{"y": math.nan}]}, "JSON cannot"),
        *(({"reference": text}, "`reference` must be a text, and not blank")
          for text in (" \u200b", None, 3)),
    ]),
    "vote-check": ([], CANDIDATES, [
        *(({"document": text}, "`document`") for text in (" ", 3)),
        *(({"unsupported": marks}, "`unsupported`")
          for marks in ([1, 2], [1, 2, 3, "4"], [1, 2, 3, -1], 0)),
    ]),
    "evaluate extractiveness": ([], PAIR, [
        ({"document": None}, "`document` is null"),
        ({"document": " "}, "`document` is blank"),
        ({"references": "one"}, "`references`"),
        ({}, "id was seen before"),
    ]),
    "export-pairs": ([], VOTED, [
        *(({key: None}, key) for key in ("document", "candidates", "scores", "id")),
        ({"candidates": ["a", "b", "c"]}, "scores"),
        *(({"scores": scores}, "scores") for scores in (
            [0.5, None, 0.75, "0.5"], [0.5, None, 0.75], {"0": 0.5},
        )),
        *(({"scores": [0.5, None, score, 0.5]}, "scores")
          for score in (True, 10**400, math.inf, math.nan)),
        ({}, "id was seen before"),
    ]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str):
    return CliRunner().invoke(group, arguments)


@pytest.mark.parametrize(
    ("command", "fault", "words"),
    [(name, *each) for name, (_, _, faults) in FAULTS.items() for each in faults],
)
def test_a_bad_row_is_named_or_left_out(folder: Path, command: str, fault, words: str) -> None:
    options, good, _ = FAULTS[command]
    changed = good | ({"id": "bad"} if fault else {})
    line = fault if isinstance(fault, bytes) else json.dumps(changed | fault).encode()
    (folder / "in.jsonl").write_bytes(json.dumps(good).encode() + b"\n\n" + line)
    arguments = [*command.split(), "in.jsonl", *options]
    done = run(*arguments)
    assert isinstance(done.exception, BridoError)
    assert done.stdout == ""
    with pytest.raises(BridoError, match=f"1 of 2 rows are bad.*{words}.*in.jsonl line 3"):
        raise done.exception
    done = run(*arguments, "--max-bad", "0.5")
    assert done.exception is None
    assert "left out" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("scor in.jsonl", "there is no command scor; did you mean score?"),
        ("score --alpha -1", "x>=0"),
        ("score in.jsonl -o there.jsonl", "is there already"),
        ("score in.jsonl -o out.csv", ".jsonl"),
        ("evaluate rogue in.jsonl", "no metric 'rogue'"),
        ("evaluate world_judge in.jsonl", "facts"),
        ("evaluate rouge in.jsonl --dry-run", "--dry-run: rouge asks no server"),
        ("export-pairs in.jsonl --prompt {document}", "{{ document }}"),
        ("export-model -o there.jsonl", "must be a new folder"),
        ("export-pairs", "data has no scores: make them with `dvc repro score`"),
        ("export-pairs --chat", "data/checkpoints/base has no tokenizer"),
        ("config persets/xsum.yaml", "there is no file persets/xsum.yaml"),
        *((f"{command} {name}", words)
          for command in ("score", "vote-check", "evaluate rouge", "export-pairs", "summarize")
          for name, words in (("empty.jsonl", ""), ("missing.jsonl", ""), (".", ""))),
    ],
)  # fmt: skip
def test_arguments_that_cannot_be_used_are_sentences(folder: Path, arguments, words) -> None:
    (folder / "in.jsonl").write_text(json.dumps(VOTED | PAIR | {"id": "x"}))
    for name in ("there.jsonl", "empty.jsonl"):
        (folder / name).touch()
    done = run(*arguments.split(" "))
    assert isinstance(done.exception, BridoError | SystemExit)
    assert done.exit_code != 0
    assert words in done.output + str(done.exception)
    assert "Traceback" not in done.output
