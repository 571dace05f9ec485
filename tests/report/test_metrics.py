"""Numbers of the report recomputed from the evaluation tables."""

import json
import math

import numpy as np
import pyarrow.parquet as pq
import pytest
import synthetic_run

from brido import tables
from brido.report.metrics import (
    difference,
    estimate,
    intervals_json,
    mean_length,
    read_estimates,
    read_scores,
    system_numbers,
)
from brido.utils.errors import BridoError

HOW = (200, 0.95, 0)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    synthetic_run.write_run(folder, documents=15)
    return folder / "data/evaluation"


def scores_of(run, system, metrics=synthetic_run.SUBMETRICS):
    return read_scores({metric: run / metric / f"{system}.parquet" for metric in metrics})


@pytest.mark.parametrize("system", synthetic_run.SYSTEMS)
def test_means_are_those_of_the_tables(run, system):
    numbers = system_numbers(estimate(scores_of(run, system), *HOW))
    for metric, names in synthetic_run.SUBMETRICS.items():
        table = pq.read_table(run / metric / f"{system}.parquet").to_pydict()
        for name in names:
            measured = [value for value in table[name] if value is not None]
            if not measured:
                assert name not in numbers.get(metric, {})
                continue
            assert numbers[metric][name] == pytest.approx(np.mean(measured), abs=1e-6)
            assert math.isfinite(numbers[metric][name])


def test_estimates_count_only_documents_with_a_number(run):
    found = estimate(scores_of(run, "tuned"), *HOW)["world_qa"]
    assert found["f1"].documents == 15
    assert found["em"].documents == 14
    assert found["em"].low <= found["em"].mean <= found["em"].high


def test_difference_is_paired(run):
    base, tuned = scores_of(run, "base"), scores_of(run, "tuned")
    found = difference(tuned, base, *HOW)
    gap = tuned.column("rouge", "r1") - base.column("rouge", "r1")
    assert found["rouge"]["r1"].mean == pytest.approx(gap.mean())
    # A system against a shifted copy of itself has no spread at all: unpaired, it would.
    moved = type(base)(base.ids, base.columns, base.values + 1.5, {})
    same = difference(moved, base, *HOW)["rouge"]["r1"]
    assert [same.low, same.mean, same.high] == pytest.approx([1.5, 1.5, 1.5])


def test_intervals_survive_their_file(run):
    found = estimate(scores_of(run, "tuned"), *HOW)
    raw = intervals_json({"tuned": found}, {}, samples=200)["systems"]["tuned"]
    assert read_estimates(json.loads(json.dumps(raw))) == found  # to the last digit
    assert system_numbers(found)["rouge"]["r1"] == found["rouge"]["r1"].mean


def test_signatures_come_from_the_tables(run):
    assert scores_of(run, "base").signatures["rouge"]["implementation"] == "rouge"


def test_tables_of_different_documents_are_refused(run, tmp_path):
    other = tmp_path / "other.parquet"
    row = {"id": "elsewhere", "x": 1.0, "detail": "{}"}
    tables.write_table(other, [[row]], tables.evaluation_schema(["x"]))
    with pytest.raises(BridoError, match="hold different documents"):
        read_scores({"rouge": run / "rouge/base.parquet", "x": other})
    with pytest.raises(BridoError, match="different documents"):
        difference(read_scores({"x": other}), scores_of(run, "base"), *HOW)


def test_missing_table_names_the_stage(tmp_path):
    with pytest.raises(BridoError, match="dvc repro evaluate"):
        read_scores({"rouge": tmp_path / "rouge/base.parquet"})


def test_length_is_measured_or_counted_at_white_space(run):
    decoded = run.parent / "decoded/base/test.parquet"
    measured = estimate(scores_of(run, "base"), *HOW)
    assert mean_length(measured, decoded, *HOW) == measured["extractiveness"]["length"]
    summaries = pq.read_table(decoded)["summary"].to_pylist()
    counted = mean_length({}, decoded, *HOW)
    assert counted.mean == pytest.approx(np.mean([len(text.split()) for text in summaries]))
