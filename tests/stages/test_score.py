"""The score stage: Eq. 2 row by row, its columns, its metadata and its refusals."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from pool_rows import pooled

from brido.tables import POOL, SCORES, read_metadata, similarity_schema, write_table
from brido.utils.errors import BridoError
from brido.vote.consensus import consensus_scores, ranking
from stages import paths, score

SIZE = 16


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])


def write_similarity(documents):
    """Similarity tables of both splits; values on a coarse grid, so that ties occur."""
    found = {}
    for seed, split in enumerate(paths.TUNING_SPLITS):
        generator = np.random.default_rng(seed)
        matrices = generator.integers(0, 3, (documents, SIZE, SIZE + 1)).astype(np.float32) / 4
        rows = [
            {"id": f"{split}-{i}", "similarity": matrix.reshape(-1)}
            for i, matrix in enumerate(matrices)
        ]
        path = Path(f"data/similarity/{split}.parquet")
        write_table(path, [rows], similarity_schema(SIZE))
        pool = [pooled(row["id"], ["a"] * SIZE) for row in rows]
        write_table(paths.pool(split), [pool], POOL)
        found[split] = matrices
    return found


def run(system, alpha=0.0):
    """The stage for one system."""
    settings(alpha)
    sys.argv = ["stages.score", system]
    score.main()


def settings(alpha=0.0):
    Path("params.yaml").write_text(json.dumps({"scoring": {"alpha": alpha}}))


def test_scores_are_equation_2_and_the_order_is_best_first_and_stable():
    """More documents than a batch holds."""
    matrices = write_similarity(1100)
    run("vote", alpha=2.5)
    for split, expected in matrices.items():
        path = Path(f"data/scores/vote/{split}.parquet")
        table = pq.read_table(path)
        assert table.schema.remove_metadata() == SCORES
        assert table["id"].to_pylist() == [f"{split}-{i}" for i in range(1100)]
        scores = consensus_scores(expected, 2.5)
        assert np.array_equal(table["scores"].to_pylist(), scores)
        assert table["order"].to_pylist() == ranking(scores).tolist()
        assert read_metadata(path, "")["num_candidates"] == SIZE


def test_the_control_is_named():
    write_similarity(40)
    orders = {}
    for name in ("vote", "control"):
        run(name)
        assert read_metadata(paths.scores(name, "train"), "")["scoring"]["shuffle"] == (
            name == "control"
        )
        orders[name] = pq.read_table(paths.scores(name, "train"))["scores"].to_pylist()
    # The same scores, and not in their places.
    assert orders["vote"] != orders["control"]
    assert [*map(sorted, orders["vote"])] == [*map(sorted, orders["control"])]


@pytest.mark.parametrize("arguments", [[], ["base"], ["vote", "control"]])
def test_whose_scores_is_asked_where_it_is_not_said(monkeypatch, arguments):
    settings()
    monkeypatch.setattr(sys, "argv", ["stages.score", *arguments])
    with pytest.raises(BridoError, match=r"stages.score SYSTEM, .*\(vote, information, control\)"):
        score.main()
