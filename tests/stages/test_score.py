"""The score stage: Eq. 2 row by row, its columns, its metadata and its refusals."""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
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
    params["scoring"].update(alpha=alpha, normalization=normalization, shuffle=shuffle)
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


@pytest.mark.parametrize("normalization", ["equation", "listing"])
def test_the_control_shuffles_the_votes_own_scores(normalization):
    """More documents than a batch holds."""
    write_similarity(1100)
    path, found = Path("data/scores/train.parquet"), {}
    for shuffle in (False, True):
        settings(0, normalization, shuffle)
        score.main()
        found[shuffle] = pq.read_table(path).to_pylist()
    assert read_metadata(path, "")["scoring"]["shuffle"]
    assert json.loads(Path("metrics/votes.json").read_text())["election"]["verdict"] == "chance"
    moved = 0
    for own, shuffled in zip(found[False], found[True], strict=True):
        assert sorted(shuffled["scores"]) == sorted(own["scores"])
        assert shuffled["order"] == sorted(range(SIZE), key=lambda i: (-shuffled["scores"][i], i))
        moved += shuffled["scores"] != own["scores"]
    assert moved > 1000


def test_the_check_is_written_and_its_verdict_printed_last(capsys):
    write_similarity(40)
    settings(0)
    counts = {"warnings": {"validation": ["4 of 9 ended."], "train": ["Not these."]}}
    paths.pool_counts().write_text(json.dumps(counts))
    score.main()
    told = json.loads(Path("metrics/votes.json").read_text())
    assert told["documents"] == 40
    assert told["length_tolerance"] == 0.15
    # Later candidates are less likely, and worse.
    assert told["accuracy"]["log_probability"]["mean"] == 1.0
    assert told["accuracy"]["shorter"]["mean"] == 0.5
    assert "support" not in told["accuracy"]
    # So does what their document adds: -i - 0.2 * (2 i - 48) falls.
    assert told["accuracy"]["information"]["mean"] == 1.0
    assert told["prior"] == 0.2
    assert told["other_writers"] == ["served"]
    assert told["election"]["good"]["base"]["mean"] == 0.0
    assert told["election"]["all"]["base"]["mean"] == 1.0
    assert told["warnings"] == ["4 of 9 ended."]
    assert "4 of 9 ended." in told["verdict"][0]
    said = capsys.readouterr().err.splitlines()
    assert said[-3:] == [f"score: {line}" for line in told["verdict"]]


def test_without_other_documents_information_is_not_compared():
    write_similarity(40)
    write_evidence(40, others=0)
    settings(0)
    score.main()
    told = json.loads(Path("metrics/votes.json").read_text())
    assert not {"information", "both"} & set(told["accuracy"])
    assert told["accuracy"]["log_probability"]["mean"] == 1.0


def test_on_the_world_lengths_are_equal_and_another_checker_is_judged():
    write_similarity(40)
    write_evidence(40, exact=True, second=True)
    settings(0)
    score.main()
    told = json.loads(Path("metrics/votes.json").read_text())
    assert told["length_tolerance"] == 0
    assert told["accuracy"]["support"]["mean"] == 1.0


def test_tables_of_other_documents_are_refused():
    write_similarity(5)
    write_evidence(4)
    settings(0)
    with pytest.raises(
        BridoError, match=r"(?s)data/support/base.parquet lacks 1 .*dvc repro support"
    ):
        score.main()


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
    write_table(paths.pool("train"), [[pooled("odd one", ["a"] * SIZE)]], POOL)
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


def test_who_cannot_be_elected_has_no_score_and_comes_last():
    matrices = write_similarity(3)
    row = pooled("train-1", ["a"] * SIZE)
    row["voters"][3] = row["eligible"][3] = row["eligible"][5] = False
    rows = [pooled("train-0", ["a"] * SIZE), row, pooled("train-2", ["a"] * SIZE)]
    write_table(paths.pool("train"), [rows], POOL)
    settings(0)
    score.main()
    found = pq.read_table(paths.scores("train")).to_pylist()
    assert [math.isnan(value) for value in found[1]["scores"]] == [n in (3, 5) for n in range(SIZE)]
    assert sorted(found[1]["order"][-2:]) == [3, 5]
    # Candidate 5 has a vote all the same, candidate 3 has none.
    others = [j for j in range(SIZE) if j not in (0, 3)]
    wanted = sum(float(matrices["train"][1, 0, j]) for j in others) / len(others)
    assert found[1]["scores"][0] == pytest.approx(wanted, abs=1e-12)


def test_similarities_of_another_pool_are_refused():
    write_similarity(2)
    settings(0)
    rows = [pooled(name, ["a"] * SIZE) for name in ("train-1", "train-0")]
    for other in (rows, [*rows[::-1], pooled("train-2", ["a"] * SIZE)], rows[:1]):
        write_table(paths.pool("train"), [other], POOL)
        with pytest.raises(BridoError, match="other documents than data/pool/train.parquet"):
            score.main()
