"""The score stage: Eq. 2 row by row, its columns, its metadata and its refusals."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from pool_rows import pooled
from ruamel.yaml import YAML

from brido.tables import (
    LIKELIHOOD,
    POOL,
    SCORES,
    SUPPORT,
    read_metadata,
    similarity_schema,
    write_table,
)
from brido.utils.errors import BridoError
from brido.vote.consensus import consensus_scores, ranking
from stages import paths, score

ROOT = Path(__file__).parents[2]
SIZE = 16  # as in params.yaml, which knows what `listing` can do


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


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
    write_evidence(documents)
    return found


def write_evidence(documents, others=2, **metadata):
    """Support and likelihood tables of the validation split: a later candidate is more wrong."""
    ids = [f"validation-{i}" for i in range(documents)]
    wrong = [0] * 4 + [1] * (SIZE - 4)
    for name, counts in (("validation", wrong), ("base", [1])):
        row = {"support": [1.0 - c for c in counts], "unsupported": counts}
        row |= {"words": [9] * len(counts), "whole": [True] * len(counts)}
        row["copied"] = [0.5] * len(counts)
        rows = [{"id": i} | row for i in ids]
        about = {"judge": "a judge"} | metadata
        write_table(Path(f"data/support/{name}.parquet"), [rows], SUPPORT, about)
    row = {"log_probability": [-1.0 * i for i in range(SIZE)], "tokens": [2] * SIZE}
    row["prior"] = [-3.0 * SIZE + 2.0 * i for i in range(SIZE)] if others else None
    rows = [{"id": i} | row for i in ids]
    about = {"others": others, "other_writers": ["served"]}
    write_table(Path("data/likelihood/validation.parquet"), [rows], LIKELIHOOD, about)


def settings(alpha, normalization="equation", shuffle=False):
    yaml = YAML()
    params = yaml.load((ROOT / "params.yaml").read_text())
    params["scoring"] |= {"alpha": alpha, "normalization": normalization, "shuffle": shuffle}
    params["scoring"]["information"] = 0.0
    with open("params.yaml", "w") as stream:
        yaml.dump(params, stream)


def test_scores_are_equation_2_and_the_order_is_best_first_and_stable():
    """More documents than a batch holds."""
    matrices = write_similarity(1100)
    settings(2.5)
    score.main()
    for split, expected in matrices.items():
        path = Path(f"data/scores/{split}.parquet")
        table = pq.read_table(path)
        assert table.schema.remove_metadata() == SCORES
        assert table["id"].to_pylist() == [f"{split}-{i}" for i in range(1100)]
        scores = consensus_scores(expected, 2.5)
        assert np.array_equal(table["scores"].to_pylist(), scores)
        assert table["order"].to_pylist() == ranking(scores).tolist()
        assert read_metadata(path, "")["num_candidates"] == SIZE


def test_the_control_is_named():
    write_similarity(40)
    settings(0, shuffle=True)
    score.main()
    assert read_metadata(paths.scores("train"), "")["scoring"]["shuffle"]


def test_another_alpha_with_the_listing_is_refused_and_nothing_is_written():
    write_similarity(3)
    settings(2.5, "listing")
    with pytest.raises(BridoError, match="2.5"):
        score.main()
    assert not Path("data/scores/train.parquet").exists()
