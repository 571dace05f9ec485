"""Numbers of the report recomputed from the evaluation tables."""

import pytest
import synthetic_run

from brido import tables
from brido.report.metrics import difference, estimate, read_scores
from brido.report.settings import ReportSettings
from brido.utils.errors import BridoError

HOW = ReportSettings(bootstrap_samples=200)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    synthetic_run.write_run(folder, documents=15)
    return folder / "data/evaluation"


def scores_of(run, system):
    return read_scores(run / system / "test.parquet")


def test_estimates_count_only_documents_with_a_number(run):
    found = estimate(scores_of(run, "vote"), HOW)["world_qa"]
    assert found["f1"].documents == 15
    assert found["em"].documents == 14
    assert found["em"].low <= found["em"].mean <= found["em"].high


def test_difference_is_paired(run):
    base, tuned = scores_of(run, "base"), scores_of(run, "vote")
    found = difference(tuned, base, HOW)
    place = base.columns.index(("rouge", "r1"))
    gap = tuned.values[:, place] - base.values[:, place]
    assert found["rouge"]["r1"].mean == pytest.approx(gap.mean())
    # A system against a shifted copy of itself has no spread at all: unpaired, it would.
    moved = type(base)(base.ids, base.columns, base.values + 1.5, {})
    same = difference(moved, base, HOW)["rouge"]["r1"]
    assert [same.low, same.mean, same.high] == pytest.approx([1.5, 1.5, 1.5])


def test_tables_of_different_documents_are_refused(run, tmp_path):
    other = tmp_path / "other.parquet"
    row = {"id": "elsewhere", "x.y": 1.0, "detail": "{}"}
    tables.write_table(other, [[row]], tables.evaluation_schema(["x.y"]))
    with pytest.raises(BridoError, match="different documents"):
        difference(read_scores(other), scores_of(run, "base"), HOW)
