"""`python -m brido vote-check`: what it says of made-up candidates, and of lines it cannot use."""

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from brido.cli.vote_check import check_records, command, read_candidates
from brido.stats import FEWEST
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

ROOT = Path(__file__).parents[2]
DOCUMENT = "A lorry hit a wall in Ashwick on Monday, police said."
RECORD = {
    "document": DOCUMENT,
    "candidates": [
        "The lorry hit a wall in Ashwick.",
        "One lorry hit a wall in Ashwick.",
        "The car struck some house in Colham.",
        "A bus is lost near a tree, and nobody has found it.",
    ],
    "reference": "A lorry struck a house in Colham.",
    "own": "The lorry was in Dunbury.",
}


def main(arguments):
    invoke(command, arguments)


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_what_is_said_of_candidates_that_agree_on_the_truth(tmp_path):
    path = write(tmp_path / "candidates.jsonl", *[RECORD] * FEWEST)
    command = [sys.executable, "-m", "brido", "vote-check", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    said = " ".join(done.stdout.split())
    assert "judge: mentions" in said
    assert "Tuning on this vote should help" in said
    assert "0.0 % of 20 elected candidates and 100.0 % of base's own outputs" in said
    assert "1.000 [1.000, 1.000] of 40 pairs" in said
    assert said.index("should help") < said.index("0.0 % of 20") < said.index("Next: ")


def test_lines_of_stdin_are_read_and_a_bad_one_is_named(monkeypatch, capsys):
    lines = "".join(json.dumps({**RECORD, "own": ""}) + "\n" for _ in range(3))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(lines.encode())))
    main(["-"])
    assert "this vote" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"\n[1]\n")))
    with pytest.raises(BridoError, match=r"(?s)stdin: .*line 2: a JSON object is expected"):
        main(["-"])


def test_without_the_models_own_text_it_says_what_is_missing(tmp_path, capsys):
    record = {key: value for key, value in RECORD.items() if key != "own"}
    main([str(write(tmp_path / "c.jsonl", record))])
    assert "add `own`" in capsys.readouterr().out


def test_the_numbers_by_hand():
    told = check_records([RECORD])
    # Colham is not in the document; the third candidate is as long as the first two, and worse.
    accuracy = told["accuracy"]
    assert (accuracy["consensus"]["mean"], accuracy["consensus"]["pairs"]) == (1.0, 2)
    assert accuracy["reference"]["mean"] == 0.0
    assert told["election"]["all"]["base"]["mean"] == 1.0


def test_marks_of_people_take_the_place_of_the_check(tmp_path, capsys):
    record = {
        "candidates": RECORD["candidates"], "unsupported": [2, 2, 0, 0.5],
        "log_probability": [-9.0, -9.0, -1.0, -2.0], "tokens": [9, 9, 9, 9],
    }  # fmt: skip
    main([str(write(tmp_path / "c.jsonl", record)), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["judge"] == "as given"
    assert told["accuracy"]["log_probability"]["mean"] == 1.0
    assert not {"reference", "information"} & set(told["accuracy"])
    assert "election" not in told


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"candidates": ["a"]}, "too few texts .1."),
        *(({"candidates": value}, "`candidates` is .* list of texts")
          for value in ("a", 5, {"a": 1}, None)),
        ({"candidates": ["a", 1, "b", "c"]}, "candidate 2 is a number"),
        ({"candidates": ["a", "b"]}, "2 texts, .* first line has 4"),
        ({"document": 3}, "`document`, .* a number"),
        ({"reference": None}, "`reference`, .* null"),
        ({"own": 1}, "`own`, .* a number"),
        *(({"unsupported": value}, "`unsupported` must be a list of 4 numbers")
          for value in ([1, 2], [1, 2, 3, "4"], [10**400, 0, 0, 0], [True, 0, 0, 0])),
        ({"log_probability": [-(10**400), 0, 0, 0]}, "`log_probability`"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_used_is_named(tmp_path, changes, named):
    more = {
        "unsupported": {"unsupported": [0] * 4, "own_unsupported": 0},
        "log_probability": {"log_probability": [-1.0] * 4},
    }
    first = RECORD | more.get(*changes, {})
    path = write(tmp_path / "c.jsonl", first, first | changes)
    with pytest.raises(BridoError, match=f"line 2: .*{named}"):
        read_candidates(str(path))


def test_a_key_that_is_missing_and_an_empty_input_are_named(tmp_path):
    path = write(tmp_path / "c.jsonl", {"texts": ["a", "b"]})
    with pytest.raises(BridoError, match="line 1: .*`candidates` is missing.* texts"):
        read_candidates(str(path))
    path.write_text("\n")
    with pytest.raises(BridoError, match="nothing was checked: the input has no line"):
        read_candidates(str(path))


def test_log_probabilities_with_other_documents_make_information(tmp_path, capsys):
    record = RECORD | {
        "log_probability": [-9.0, -9.0, -1.0, -2.0], "prior": [-90.0, -90.0, -1.0, -2.0],
    }  # fmt: skip
    path = str(write(tmp_path / "c.jsonl", record))
    main([path, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["accuracy"]["information"]["mean"] == 1.0
    assert told["accuracy"]["log_probability"]["mean"] == 0.0
    assert told["election"]["good"]["elected"]["mean"] == 1.0
    del record["log_probability"]
    with pytest.raises(BridoError, match="`prior` needs `log_probability`"):
        main([str(write(tmp_path / "d.jsonl", record))])
