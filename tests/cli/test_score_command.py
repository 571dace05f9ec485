"""Scores of anybody's candidates: against Eq. 2 written out over rouge_score, and as a stream."""

import json
import math

import pytest
from rouge_score.rouge_scorer import RougeScorer
from standard_input import stdin

from brido.cli.score import command, score_row
from brido.text.words import one_sentence_a_line
from brido.utils.commands import invoke
from brido.utils.errors import BridoError

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
    found = score_row(RECORD, alpha, combination)
    expected = slow_scores(RECORD, alpha, combination)
    assert found["scores"] == pytest.approx(expected, abs=1e-6)
    best_first = sorted(range(4), key=lambda index: -expected[index])
    assert found["order"] == best_first
    assert [found["ranks"][index] for index in best_first] == [1, 2, 3, 4]


def test_without_weight_no_reference_is_needed():
    alone = {"candidates": RECORD["candidates"]}
    assert score_row(alone) == score_row(RECORD)


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


def test_what_may_be_wrong_with_candidates_is_said_unless_it_is_mended(tmp_path, capsys):
    path = tmp_path / "candidates.jsonl"
    wrapped, refused = "Here is a summary:\nA cat sat down.", "I cannot help with that."
    rows = [[wrapped, "A cat sat.", refused], ["雨が降った。", "今日は寒い。"]]
    path.write_text("".join(json.dumps({"candidates": texts}) + "\n" for texts in rows))
    main([str(path)])
    said = capsys.readouterr().err
    assert "2 of 5 candidates" in said
    assert "40% of the words" in said
    assert "--tokenizer unicode" in said
    main([str(path), "--clean", "--tokenizer", "unicode"])
    out, said = capsys.readouterr()
    assert said == ""
    row = json.loads(out.splitlines()[0])
    plain = score_row({"candidates": ["A cat sat down.", "A cat sat."]}, tokenizer="unicode")
    assert row["candidates"][:2] == ["A cat sat down.", "A cat sat."]
    assert row["raw"] == rows[0]
    assert row["scores"] == [*plain["scores"], None]
    assert (row["ranks"], row["order"]) == ([1, 2, None], [0, 1])


def test_stdin_is_scored_as_a_file_is(tmp_path, monkeypatch, capsys):
    for content in (json.dumps(RECORD), json.dumps([RECORD]).encode("utf-16")):
        monkeypatch.setattr("sys.stdin", stdin(content))
        main([])
        assert json.loads(capsys.readouterr().out) == RECORD | score_row(RECORD)
    monkeypatch.setattr("sys.stdin", stdin("oops\n"))
    with pytest.raises(BridoError, match="stdin line 1"):
        main(["-"])
