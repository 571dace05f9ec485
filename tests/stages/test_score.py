"""The score stage: Eq. 2 row by row, its columns, its metadata and its refusals."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ruamel.yaml import YAML

from brido.errors import BridoError
from brido.tables import SCORES, read_metadata, similarity_schema, write_table
from stages import score

ROOT = Path(__file__).parents[2]
SIZE = 16  # as in params.yaml, which knows what `listing` can do


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write_similarity(documents):
    """Similarity tables of both splits; values on a coarse grid, so that ties occur."""
    found = {}
    for seed, split in enumerate(score.SPLITS):
        generator = np.random.default_rng(seed)
        matrices = generator.integers(0, 3, (documents, SIZE, SIZE + 1)).astype(np.float32) / 4
        rows = [
            {"id": f"{split}-{i}", "similarity": matrix.reshape(-1)}
            for i, matrix in enumerate(matrices)
        ]
        path = Path(f"data/similarity/{split}.parquet")
        write_table(path, [rows], similarity_schema(SIZE))
        found[split] = matrices
    return found


def settings(alpha, normalization="equation"):
    yaml = YAML()
    params = yaml.load((ROOT / "params.yaml").read_text())
    params["scoring"].update(alpha=alpha, normalization=normalization)
    with open("params.yaml", "w") as stream:
        yaml.dump(params, stream)


@pytest.mark.parametrize("alpha", [0, 1, SIZE - 1, 2.5, math.inf])
def test_scores_are_equation_2_and_the_order_is_best_first_and_stable(alpha):
    matrices = write_similarity(1100)
    settings(alpha)
    score.main()
    for split, expected in matrices.items():
        path = Path(f"data/scores/{split}.parquet")
        table = pq.read_table(path)
        assert table.schema.remove_metadata() == SCORES
        rows = table.to_pylist()
        assert [row["id"] for row in rows] == [f"{split}-{i}" for i in range(1100)]
        for row, matrix in zip(rows, expected, strict=True):
            for i in range(SIZE):
                others = sum(float(matrix[i, j]) for j in range(SIZE) if j != i)
                wanted = float(matrix[i, SIZE])
                if alpha != math.inf:
                    wanted = (others + alpha * wanted) / (SIZE - 1 + alpha)
                assert row["scores"][i] == pytest.approx(wanted, abs=1e-12)
            order = sorted(range(SIZE), key=lambda i: (-row["scores"][i], i))
            assert row["order"] == order
        assert read_metadata(path, "")["num_candidates"] == SIZE


def test_listing_differs_from_the_equation_by_its_constant():
    write_similarity(3)
    found = []
    for normalization in ("equation", "listing"):
        settings(SIZE - 1, normalization)
        score.main()
        rows = pq.read_table("data/scores/train.parquet").to_pylist()
        found.append(np.array([row["scores"] for row in rows]))
    constant = (2 * SIZE - 2) / ((2 * SIZE - 1) * SIZE)
    np.testing.assert_allclose(found[1], found[0] * constant, rtol=1e-6)


def test_another_alpha_with_the_listing_is_refused_and_nothing_is_written():
    write_similarity(3)
    settings(2.5, "listing")
    with pytest.raises(BridoError, match="2.5"):
        score.main()
    assert not Path("data/scores/train.parquet").exists()


def test_a_value_that_is_no_number_names_the_row():
    write_similarity(3)
    settings(0)
    matrix = np.zeros(SIZE * (SIZE + 1), np.float32)
    matrix[3] = np.nan
    path = Path("data/similarity/train.parquet")
    write_table(path, [[{"id": "odd one", "similarity": matrix}]], similarity_schema(SIZE))
    with pytest.raises(BridoError, match="'odd one'"):
        score.main()


@pytest.mark.parametrize(
    "column",
    [pa.array([[0.0] * 7], pa.list_(pa.float32(), 7)), pa.array([[0.0] * 6])],
    ids=["seven values", "lists of any size"],
)
def test_a_table_that_holds_no_similarities_is_refused(column):
    settings(0)
    Path("data/similarity").mkdir(parents=True)
    table = pa.table({"id": ["a"], "similarity": column})
    pq.write_table(table, "data/similarity/train.parquet")
    with pytest.raises(BridoError, match="data/similarity/train.parquet"):
        score.main()
