"""Scores of anybody's candidates: against Eq. 2 written out over rouge_score, and as a stream."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rouge_score.rouge_scorer import RougeScorer
from standard_input import stdin

from brido.cli.score import check_file, checked, command, score_record
from brido.utils.commands import invoke
from brido.utils.errors import BridoError
from brido.utils.text import one_sentence_a_line

ROOT = Path(__file__).parents[2]
RECORD = {
    "id": 7,
    "candidates": [
        "A lorry hit a wall in Ashwick. Nobody was hurt.",
        "A lorry hit a wall in Colham.",
        "The lorry was hitting walls in Ashwick.",
        "Something else entirely. Dr. Vane said so.",
    ],
    "reference": "Nobody was hurt when a lorry hit a wall. It was in Ashwick.",
}


def main(arguments):
    invoke(command, arguments)


def pair(first, second, combination):
    names = ["rouge1", "rouge2", "rougeLsum"]
    lines = [one_sentence_a_line(text) for text in (second, first)]
    scores = RougeScorer(names, use_stemmer=True).score(*lines)
    r1, r2, rlsum = (scores[name].fmeasure for name in names)
    if combination == "harmonic_r1_r2":
        return 2 * r1 * r2 / (r1 + r2) if r1 + r2 else 0.0
    return (r1 + r2 + rlsum) / 3


def slow_scores(record, alpha, combination):
    candidates, reference = record["candidates"], record["reference"]
    result = []
    for index, candidate in enumerate(candidates):
        ours = pair(candidate, reference, combination)
        if math.isinf(alpha):
            result.append(ours)
            continue
        peers = sum(
            pair(candidate, other, combination)
            for position, other in enumerate(candidates)
            if position != index
        )
        result.append((peers + alpha * ours) / (len(candidates) - 1 + alpha))
    return result


@pytest.mark.parametrize("alpha", [0, 1, 3, math.inf])
@pytest.mark.parametrize("combination", ["harmonic_r1_r2", "mean_r1_r2_rlsum"])
def test_scores_are_equation_2_over_rouge_score(alpha, combination):
    found = score_record(RECORD, alpha, combination)
    expected = slow_scores(RECORD, alpha, combination)
    assert found["scores"] == pytest.approx(expected, abs=1e-6)
    best_first = sorted(range(4), key=lambda index: -expected[index])
    assert found["order"] == best_first
    assert [found["ranks"][index] for index in best_first] == [1, 2, 3, 4]


def test_without_weight_no_reference_is_needed():
    alone = {"candidates": RECORD["candidates"]}
    assert score_record(alone) == score_record(RECORD)


def test_file_keeps_every_key_and_equal_candidates_keep_their_order(tmp_path, capsys):
    path = tmp_path / "candidates.jsonl"
    same = {"candidates": ["a b", "a b", "c"], "note": "é"}
    path.write_text(json.dumps(RECORD) + "\n\n" + json.dumps(same) + "\n", encoding="utf-8")
    main([str(path)])
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert RECORD.items() <= first.items()
    assert second["note"] == "é"
    assert second["order"] == [0, 1, 2]
    assert second["ranks"] == [1, 2, 3]
    main([str(path), "--output", str(tmp_path / "scored.jsonl"), "--alpha", "0"])
    assert len((tmp_path / "scored.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[1]", "a JSON object is expected, not a list"),
        (b"[" * 100_000, "not JSON .it is nested too deeply"),
        (b'{"id": "\\ud800", "candidates": ["a", "b"]}', "half of a surrogate pair"),
        (b'{"id": 1, "candidates": ["a", "b"], "id": 2}', "a key occurs twice .id"),
        (b'{"texts": []}', "`candidates` is missing.* texts"),
        (b'{"candidates": 5}', "`candidates` is a number, .* list of texts"),
        (b'{"candidates": ["a", 1]}', "must be texts: candidate 2 is a number, 1"),
        (b'{"candidates": ["a"]}', "at least 2"),
        (b'{"candidates": ["a", "b"], "scores": [1]}', "already has scores"),
    ],
)
def test_a_bad_line_is_named(line, message):
    ((_, problem),) = checked([b"", b"\n", line], 0.0)
    assert re.search(f"line 3: .*{message}", problem)


def test_a_file_with_bad_lines_lists_all_and_scores_nothing(tmp_path, capsys):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"candidates": ["a", "b"]}\n{\n[]\n' + b"x\n" * 30)
    with pytest.raises(BridoError) as caught:
        main([str(path), "--output", str(tmp_path / "out.jsonl")])
    assert "line 2" in str(caught.value)
    assert "line 3" in str(caught.value)
    assert "and 12 more" in str(caught.value)
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "out.jsonl").exists()
    with pytest.raises(BridoError, match="there is no such file"):
        check_file(tmp_path / "none.jsonl", 0.0)


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_input_is_an_error(tmp_path, monkeypatch, content):
    path = tmp_path / "empty.jsonl"
    path.write_text(content)
    for arguments in ([str(path)], [str(path), "-o", str(tmp_path / "out.jsonl")], ["-"]):
        monkeypatch.setattr("sys.stdin", stdin(content))
        with pytest.raises(BridoError, match="nothing was scored: the input has no line"):
            main(arguments)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_pipe_of_the_shell_is_read_once(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, json.dumps(RECORD).encode())
    os.close(writing)
    try:
        (found,) = scored(tmp_path, f"/dev/fd/{reading}")
    finally:
        os.close(reading)
    assert found["scores"] == score_record(RECORD)["scores"]


def test_each_line_is_answered_before_the_next_is_sent(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "brido", "score", "--alpha", "inf"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, text=True, bufsize=1,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        for number in (1, 2):
            process.stdin.write(json.dumps(RECORD | {"id": number}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.write("oops\n")
        process.stdin.close()
        assert process.wait(60) == 2
        message = process.stderr.read()
    assert message.startswith("error: stdin, line 3: not JSON")
    assert "Traceback" not in message


def test_negative_alpha_is_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--alpha", "-1"])
    assert caught.value.code == 2
    assert "a number from 0" in capsys.readouterr().err


@pytest.mark.parametrize("reference", ["", " ", "\u200b", None, 3])
def test_a_reference_that_weighs_must_say_something(reference):
    line = json.dumps({"candidates": ["a", "b"], "reference": reference}).encode()
    assert [problem for _, problem in checked([line], 0.0)] == [""]
    ((_, problem),) = checked([line], 1.0)
    assert "`reference` must be a text, and not empty, when alpha is 1" in problem


def scored(tmp_path, *arguments):
    main([*map(str, arguments), "-o", str(tmp_path / "out.jsonl")])
    return [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("number", ["1e400", "-1e999", "NaN", "Infinity"])
def test_numbers_that_no_json_holds_are_refused_and_not_repeated(tmp_path, number):
    (tmp_path / "r.jsonl").write_text(f'{{"candidates": ["a", "b"], "x": [{{"y": {number}}}]}}\n')
    with pytest.raises(BridoError, match="line 1: not JSON .*finite"):
        scored(tmp_path, tmp_path / "r.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_long_whole_numbers_are_repeated_digit_by_digit(tmp_path):
    (tmp_path / "r.jsonl").write_text(f'{{"candidates": ["a", "b"], "x": {10**400}}}\n')
    assert scored(tmp_path, tmp_path / "r.jsonl")[0]["x"] == 10**400


def test_texts_of_other_scripts_are_scored_with_unicode_words_or_said(tmp_path, capsys):
    row = {"candidates": ["猫在睡觉。狗在叫。", "猫在睡觉。", "今天下雨"]}
    (tmp_path / "r.jsonl").write_text(json.dumps(row))
    (plain,) = scored(tmp_path, tmp_path / "r.jsonl")
    assert plain["scores"] == [0, 0, 0]
    assert "--tokenizer unicode" in capsys.readouterr().err
    for combination in ("harmonic_r1_r2", "mean_r1_r2_rlsum"):
        how = ("--tokenizer", "unicode", "--combination", combination)
        (found,) = scored(tmp_path, tmp_path / "r.jsonl", *how)
        assert found["scores"] == score_record(row, 0.0, combination, "unicode")["scores"]
        assert found["order"][-1] == 2
        assert "warning" not in capsys.readouterr().err
