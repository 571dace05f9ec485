"""A finished run: what every stage wrote, by its definition, and that it writes the same again."""

import json
from importlib import import_module
from pathlib import Path

import finished_run as run
import numpy as np
import pyarrow.parquet as pq
import pytest
from dvc.repo import Repo

from brido.evaluation.parts import read_inputs
from brido.evaluation.registry import find_metric
from brido.rouge import similarity_matrix
from brido.settings.load import load_params
from brido.tables import SCORES, read_metadata, read_rows
from brido.vote.consensus import consensus_scores, ranking
from stages import paths

ROOT = Path(__file__).parents[2]


@pytest.fixture
def read(finished_run, monkeypatch):
    """The finished run as the present folder; nothing in it may be changed."""
    monkeypatch.chdir(finished_run)


def content():
    files = (path for part in ("data", "metrics", "report") for path in Path(part).rglob("*"))
    return {str(path): path.read_bytes() for path in files if path.is_file()}


def test_every_output_of_dvc_yaml_is_there_and_none_is_empty(read):
    """DVC warns of an empty one at every run."""
    with Repo(str(ROOT)) as repo:
        outputs = [str(out) for stage in repo.index.stages for out in stage.outs]
    assert len(outputs) > 30
    for path in map(Path, outputs):
        assert path.is_file() or any(path.iterdir()), path
    assert (
        set(content())
        - {name for name in content() for output in outputs if name.startswith(output)}
        == set()
    )


@pytest.mark.usefixtures("finished")
def test_stages_that_run_again_write_the_same_bytes(monkeypatch):
    expected = content()
    params = load_params()
    again = [name for name in run.stages() if name[0] not in ("checkpoint", "generate", "train")]
    for stage, *names in again:
        run.run(monkeypatch, stage, *names)
    assert set(params.all_systems) <= {name[1] for name in again if len(name) > 1}
    assert content() == expected


def dying(kind, seen):
    """Such a worker: its second unit is a KeyboardInterrupt, once.

    seen: the units that were worked on, None for the kill.
    """

    class Dying(kind):
        def __call__(self, unit):
            if len(seen) == 1:
                seen.append(None)
                raise KeyboardInterrupt
            seen.append(unit)
            return super().__call__(unit)

    return Dying


@pytest.mark.usefixtures("finished")
@pytest.mark.parametrize("code", ["", "-other"])
@pytest.mark.parametrize(
    ("names", "worker", "size", "parts"),
    [(("pairwise",), "Comparer", "SHARD_DOCUMENTS", 4 + 6 + 4),
     (("evaluate", "elected"), "Measurer", "PART", 5 * 4)],
)  # fmt: skip
def test_after_a_kill_what_other_code_made_is_made_again(
    monkeypatch, names, worker, size, parts, code
):
    stage, expected, done = import_module(f"stages.{names[0]}"), content(), []
    own = stage.code_key()
    monkeypatch.setattr(stage, size, 4)
    monkeypatch.setattr(stage, worker, dying(getattr(stage, worker), done))
    with pytest.raises(KeyboardInterrupt):
        run.run(monkeypatch, *names)
    monkeypatch.setattr(stage, "code_key", lambda: own + code)
    run.run(monkeypatch, *names)
    assert len(done[2:]) == parts - (not code)
    assert content() == expected


def similarities(split):
    """The matrices [D, N, N + 1] of a split, by id."""
    rows = pq.read_table(paths.similarity(split)).to_pylist()
    return {row["id"]: np.reshape(row["similarity"], (4, 5)) for row in rows}


def test_similarities_are_those_of_the_texts_in_the_order_of_the_corpus(read):
    for split in run.SPLITS:
        corpus = pq.read_table(paths.corpus(split), columns=["id", "summary"]).to_pylist()
        pool = {row["id"]: row for row in pq.read_table(paths.pool(split)).to_pylist()}
        found = similarities(split)
        assert list(found) == list(pool) == [row["id"] for row in corpus]
        for row in corpus:
            texts = pool[row["id"]]["candidates"]
            matrix = similarity_matrix(texts, row["summary"], "harmonic_r1_r2")
            assert np.array_equal(found[row["id"]], matrix)


def test_scores_are_equation_2_and_the_control_has_the_same_ones_shuffled(read):
    for split in paths.TUNING_SPLITS:
        matrices = np.array([*similarities(split).values()])
        wanted = consensus_scores(matrices.astype(np.float32), 0.0)
        table = pq.read_table(paths.scores("vote", split))
        assert table.schema.remove_metadata() == SCORES
        scores = np.array(table["scores"].to_pylist())
        assert np.array_equal(scores, wanted)
        assert table["order"].to_pylist() == ranking(scores).tolist()
        control = np.array(pq.read_table(paths.scores("control", split))["scores"].to_pylist())
        assert not np.array_equal(control, scores)
        assert np.array_equal(np.sort(control), np.sort(scores))
        about = [read_metadata(paths.scores(name, split), "") for name in ("vote", "control")]
        assert [own["scoring"]["shuffle"] for own in about] == [False, True]
        assert {own["num_candidates"] for own in about} == {4}


def test_an_evaluation_has_each_metric_as_it_is_alone_and_null_where_it_says_nothing(read):
    metrics = load_params().evaluation.metrics
    names = [f"{name}.{column}" for name in metrics for column in find_metric(name).names]
    for system in ("base", "reference"):
        rows = read_rows(paths.evaluation(system), None, "")
        assert list(rows[0]) == ["id", *names, "detail"]
        inputs = read_inputs(paths.corpus("test"), paths.decoded(system, "test"))
        for name in metrics:
            if system == "reference" and find_metric(name).against_references:
                assert {row[f"{name}.r1"] for row in rows} == {None}
                continue
            found = find_metric(name).measure(inputs)
            for row, alone, detail in zip(rows, found.rows, found.details, strict=True):
                assert {column: row[f"{name}.{column}"] for column in alone} == alone
                assert json.loads(row["detail"]).get(name, {}) == json.loads(json.dumps(detail))
        signatures = read_metadata(paths.evaluation(system), "")["signature"]
        assert all(own["n"] == len(rows) and own["implementation"] for own in signatures.values())
    assert list(signatures) == sorted(set(metrics) - {"rouge"})
