"""`python -m brido vote-check`: what it says of made-up candidates, and of lines it cannot use."""

import json

import pytest
from standard_input import stdin

from brido.cli.vote_check import check_records, command, read_candidates
from brido.stats import FEWEST
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

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


def test_what_is_said_of_candidates_that_agree_on_the_truth(tmp_path, capsys):
    main([str(write(tmp_path / "candidates.jsonl", *[RECORD] * FEWEST))])
    said = " ".join(capsys.readouterr().out.split())
    assert "judge: mentions" in said
    assert "more often than base's own output: 100.0 % against 0.0 % of 20 documents" in said
    assert "1.000 [1.000, 1.000]" in said
    # In one document that is repeated copying tells all that the vote tells.
    assert "[0.500, 0.500] of 40 pairs; chance" in said


def test_lines_of_stdin_are_read_and_a_bad_one_is_named(monkeypatch, capsys):
    lines = "".join(json.dumps({**RECORD, "own": ""}) + "\n" for _ in range(3))
    monkeypatch.setattr("sys.stdin", stdin(lines))
    main(["-"])
    assert "vote" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", stdin("\n[1]\n"))
    with pytest.raises(BridoError, match=r"(?s)stdin: .*line 2: a JSON object is expected"):
        main(["-"])


def test_the_numbers_by_hand():
    check = check_records([RECORD])
    # Colham is not in the document; the third candidate is as long as the first two, and worse.
    vote = check["orders"]["vote"]
    assert (vote["mean"], vote["pairs"]) == (1.0, 2)
    assert check["fixed"]["reference"]["mean"] == 0.0
    assert check["election"]["unsupported"]["base"]["mean"] == 1.0
    assert "consensus" not in check["fixed"]  # it is this vote
    check = check_records([RECORD], alpha=float("inf"))
    assert check["orders"]["vote"]["mean"] == 0.0
    assert check["fixed"]["consensus"]["mean"] == 1.0
    assert "reference" not in check["fixed"]


def test_marks_of_people_take_the_place_of_the_check(tmp_path, capsys):
    record = {
        "candidates": RECORD["candidates"], "unsupported": [2, 2, 0, 0.5],
        "log_probability": [-9.0, -9.0, -1.0, -2.0], "tokens": [9, 9, 9, 9],
    }  # fmt: skip
    main([str(write(tmp_path / "c.jsonl", record)), "--json"])
    check = json.loads(capsys.readouterr().out)
    assert check["judge"] == "as given"
    assert check["fixed"]["log_probability"]["mean"] == 1.0
    assert not {"reference", "information"} & set(check["fixed"])
    assert "election" not in check


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"candidates": ["a"]}, "too few texts .1."),
        *(({"candidates": value}, "`candidates` is .* list of texts")
          for value in ("a", 5, {"a": 1}, None)),
        ({"candidates": ["a", 1, "b", "c"]}, "candidate 2 is a number"),
        ({"candidates": ["a", "b"]}, "2 texts, .* first line has 4"),
        ({"document": 3}, "`document`, .* a number"),
        ({"document": " \u200b"}, "`document` is blank"),
        ({"reference": None}, "`reference`, .* null"),
        ({"own": 1}, "`own`, .* a number"),
        *(({"unsupported": value}, "`unsupported` must be a list of 4 numbers")
          for value in ([1, 2], [1, 2, 3, "4"], [10**400, 0, 0, 0], [True, 0, 0, 0],
                        [1, 0, 0, -0.5])),
        ({"own_unsupported": -1}, "`own_unsupported` must be a number from 0 .* is -1"),
        ({"own_unsupported": None}, "`own_unsupported` must be a number from 0"),
        ({"log_probability": [-(10**400), 0, 0, 0]}, "`log_probability`"),
        ({"log_probability": [-1, -2, 0.5, 0]}, "`log_probability` .* at most 0.* 0.5"),
        ({"prior": [-1, -2, 3, 0]}, "`prior` .* at most 0.* 3"),
        ({"tokens": [4, 0, 3, 3]}, "`tokens` .* from 1.* 0"),
        ({"tokens": None}, "`tokens` .* from 1"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_used_is_named(tmp_path, changes, named):
    more = {
        "unsupported": {"unsupported": [0] * 4, "own_unsupported": 0},
        "own_unsupported": {"unsupported": [0] * 4, "own_unsupported": 0},
        "log_probability": {"log_probability": [-1.0, 0, -1, -1]},
        "prior": {"log_probability": [-1.0] * 4, "prior": [0, -1, -1, -1]},
        "tokens": {"tokens": [1] * 4},
    }
    first = RECORD | more.get(*changes, {})
    assert read_candidates(str(write(tmp_path / "first.jsonl", first, first))) == [first, first]
    path = write(tmp_path / "c.jsonl", first, first | changes)
    with pytest.raises(BridoError, match=f"line 2: .*{named}"):
        read_candidates(str(path))


@pytest.mark.parametrize(
    "more",
    [{"reference": 5}, {"reference": "A text."}, {"tokens": [1, 1, 1, 1]}, {"own_unsupported": 1}],
    ids=str,
)
def test_what_the_first_line_lacks_no_other_line_has(tmp_path, more):
    first = {key: RECORD[key] for key in ("document", "candidates")}
    path = write(tmp_path / "c.jsonl", first, first | {"note": 1, "own": None}, first | more)
    with pytest.raises(BridoError) as failed:
        read_candidates(str(path))
    (key,) = more
    assert f"line 3: `{key}` is missing in the first line" in str(failed.value)
    assert "line 2" not in str(failed.value)


def test_a_blank_reference_is_refused_where_it_weighs(tmp_path):
    path = write(tmp_path / "c.jsonl", RECORD | {"reference": " "})
    assert len(read_candidates(str(path))) == 1
    with pytest.raises(BridoError, match="line 1: `reference` is blank"):
        read_candidates(str(path), 1.0)


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
    check = json.loads(capsys.readouterr().out)
    assert check["fixed"]["information"]["mean"] == 1.0
    assert check["fixed"]["log_probability"]["mean"] == 0.0
    assert check["election"]["good"]["elected"]["mean"] == 1.0
    assert f"less {check['prior_weight']:g} times" in " ".join(command.help.split())
    del record["log_probability"]
    with pytest.raises(BridoError, match="`prior` needs `log_probability`"):
        main([str(write(tmp_path / "d.jsonl", record))])


def test_texts_that_rouge_does_not_see_are_said_or_compared(tmp_path, capsys):
    row = {"document": "猫在睡觉。", "candidates": ["猫在睡觉。", "猫在睡觉吗", "今天下雨"]}
    lines = "".join(json.dumps(row | {"id": n}) + "\n" for n in range(3))
    (tmp_path / "in.jsonl").write_text(lines)
    invoke(command, [str(tmp_path / "in.jsonl")])
    assert "--tokenizer unicode" in capsys.readouterr().err
    invoke(command, [str(tmp_path / "in.jsonl"), "--tokenizer", "unicode"])
    assert "--tokenizer" not in capsys.readouterr().err


@pytest.mark.parametrize(("name", "options"), [("a.parquet", []), ("a.jsonl", ["--json"])])
def test_an_output_is_not_named_as_another_format(tmp_path, name, options):
    source = str(write(tmp_path / "c.jsonl", RECORD))
    with pytest.raises(BridoError, match=rf"--output .*{name}"):
        main([source, *options, "-o", str(tmp_path / name)])
    assert not (tmp_path / name).exists()
