"""Votes as training data: the columns that TRL names, the right pairs, nothing dropped silently."""

import json
import shutil

import pytest
import synthetic_run
from datasets import load_dataset

from brido import tables
from brido.errors import BridoError
from brido.export import Voted, main, pairs

VOTED = Voted("x", "doc", ["a", "b", "a", "c"], [0.5, 0.9, 0.5, 0.7], [1, 3, 0, 2])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    synthetic_run.write_run(folder, documents=9, count=6)
    return folder / "data"


def export(data, tmp_path, kind, *options, name="out.parquet"):
    path = tmp_path / name
    arguments = [kind, "--data", data, "--split", "validation", "--output", path, *options]
    main([str(argument) for argument in arguments])
    return path


def load(path):
    kind = "json" if path.suffix == ".jsonl" else "parquet"
    files = str(path)
    return load_dataset(kind, data_files=files, split="train", cache_dir=path.parent / "cache")


def votes(data):
    read = {
        name: tables.read_rows(data / name / "validation.parquet", None, "")
        for name in ("corpus", "candidates", "scores")
    }
    return {
        corpus["id"]: (corpus["document"], candidates["candidates"], scores["scores"])
        for corpus, candidates, scores in zip(*read.values(), strict=True)
    }


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl"])
def test_preferences_load_with_the_columns_of_trl(data, tmp_path, name):
    found = load(export(data, tmp_path, "preferences", name=name))
    assert {"prompt", "chosen", "rejected"} <= set(found.column_names)
    assert {str(found.features[key].dtype) for key in ("prompt", "chosen", "rejected")} == {
        "string"
    }
    known = votes(data)
    for row in found:
        document, candidates, scores = known[row["id"]]
        assert row["prompt"] == f"{document}\n\nTL;DR:"
        assert row["chosen"] == f" {candidates[scores.index(max(scores))]}"
        assert row["score_chosen"] == max(scores)
        assert row["score_rejected"] == min(scores)
        assert candidates[scores.index(max(scores))] != row["rejected"].removeprefix(" ")


def test_both_formats_at_once_hold_the_same(data, tmp_path):
    parquet = export(data, tmp_path, "preferences", tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").open(encoding="utf-8")]
    assert lines == tables.read_rows(parquet, None, "")


def test_without_output_both_kinds_lie_beside_the_tables(data, tmp_path):
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    main(["ranking", "--data", str(copy), "--split", "validation"])
    names = {path.name for path in (copy / "export").iterdir()}
    assert names == {"ranking-validation.parquet", "ranking-validation.jsonl"}


def test_all_pairs_above_a_gap(data, tmp_path):
    found = tables.read_rows(
        export(data, tmp_path, "preferences", "--pairs", "all", "--min-gap", "0.05"), None, ""
    )
    expected = 0
    for _, candidates, scores in votes(data).values():
        for first, better in zip(candidates, scores, strict=True):
            for second, worse in zip(candidates, scores, strict=True):
                expected += better - worse > 0.05 and first != second
    assert len(found) == expected > 9
    assert all(row["score_chosen"] - row["score_rejected"] > 0.05 for row in found)


def test_ranking_has_the_margin_that_a_reward_trainer_takes(data, tmp_path):
    found = load(export(data, tmp_path, "ranking"))
    assert {"prompt", "chosen", "rejected", "margin"} <= set(found.column_names)
    assert found.features["margin"].dtype == "float64"
    known = votes(data)
    for row in found:
        _, candidates, scores = known[row["id"]]
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        better, worse = order[row["rank_chosen"] - 1], order[row["rank_rejected"] - 1]
        assert row["chosen"] == f" {candidates[better]}"
        assert row["margin"] == scores[better] - scores[worse] > 0


def test_pairs_leave_out_equal_texts_and_small_gaps():
    assert list(pairs(VOTED, False, 0.0)) == [(0, 3)]
    assert list(pairs(VOTED, True, 0.0)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
    assert list(pairs(VOTED, True, 0.3)) == [(0, 2), (0, 3)]
    same = Voted("x", "doc", ["a", "a"], [0.9, 0.1], [0, 1])
    assert list(pairs(same, False, 0.0)) == []


def test_documents_without_a_pair_are_counted(data, tmp_path, capsys):
    export(data, tmp_path, "preferences", "--min-gap", "5")
    assert "0 pairs of 0 documents" in capsys.readouterr().err
    assert tables.count_rows(tmp_path / "out.parquet", "") == 0


def test_template_takes_braces_and_escapes(data, tmp_path):
    path = export(data, tmp_path, "preferences", "--prompt", "{x} {document}\\nSummary:")
    row = tables.read_rows(path, None, "")[0]
    assert row["prompt"].startswith("{x} ")
    assert row["prompt"].endswith("\nSummary:")


def test_bad_options_are_named_together(data, tmp_path):
    with pytest.raises(BridoError) as caught:
        export(data, tmp_path, "preferences", "--prompt", "x", "--min-gap", "-1", name="out.txt")
    for part in ("--prompt", "--min-gap", "out.txt"):
        assert part in str(caught.value)


def test_tables_that_do_not_belong_together_leave_nothing_behind(data, tmp_path):
    rows = tables.read_rows(data / "scores/validation.parquet", tables.SCORES, "")
    rows[4]["id"] = "stranger"
    broken = tmp_path / "data"
    for name in ("corpus", "candidates"):
        (broken / name).mkdir(parents=True)
        source = data / name / "validation.parquet"
        (broken / name / "validation.parquet").write_bytes(source.read_bytes())
    tables.write_table(broken / "scores/validation.parquet", [rows], tables.SCORES)
    with pytest.raises(BridoError, match="different documents from 'validation-004' on"):
        export(broken, tmp_path, "preferences")
    assert not (tmp_path / "out.parquet").exists()
