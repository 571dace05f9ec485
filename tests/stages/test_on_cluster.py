"""Stages on a Ray cluster of two nodes: the bytes that they make here.

What happens when a worker or a node dies is tested in tests/work/test_cluster.py.
"""

import shutil
from pathlib import Path

import pytest
import ray_nodes
import small_project
from pool_rows import pooled

from brido.settings.load import load_params
from brido.tables import DECODED, POOL, write_table
from brido.work import Shards
from stages import evaluate, generate, pairwise, paths, support

pytestmark = pytest.mark.slow

# A few documents a unit, so that every stage has several.
SMALL_UNITS = 3
RAY = {"engine": "ray", "shard_documents": SMALL_UNITS}
# One stage of each kind: a model's, compiled code's, a checker's, a metric's.
STAGES = {
    "generate": lambda params: generate.make(params, "base"),
    "pairwise": lambda params: pairwise.compare("train", params),
    "support": lambda params: support.check(params, ["validation"]),
    "evaluate": lambda params: evaluate.evaluate(params, "base"),
}
OUTPUTS = {
    "generate": paths.candidates("base", "train").parent,
    "pairwise": paths.similarity("train").parent,
    "support": paths.support("base").parent,
    "evaluate": paths.evaluation("base").parent,
}


def write_tables(folder):
    """Candidates and summaries that do not depend on what a random model writes."""
    for split in ("train", "validation", "test"):
        documents = range(small_project.SPLITS[split])
        words = [small_project.document(number).split() for number in documents]
        rows = [
            pooled(f"{split}-{n}", [" ".join(words[n][i : i + 5]) for i in range(4)])
            for n in documents
        ]
        write_table(folder / paths.pool(split), [rows], POOL)
        if split != "train":
            decoded = [
                {"id": f"{split}-{n}", "summary": words[n][0], "score": 0.0} for n in documents
            ]
            write_table(folder / paths.decoded("base", split), [decoded], DECODED)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(pairwise, "SHARD_DOCUMENTS", SMALL_UNITS)
    monkeypatch.setattr(evaluate, "PART", SMALL_UNITS)
    monkeypatch.delenv("BRIDO_WORK", raising=False)
    monkeypatch.chdir(tmp_path)
    small_project.write_project(tmp_path)
    write_tables(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def _cluster():
    """Two nodes with a processor each."""
    with ray_nodes.connected(2):
        yield


def made(project, stage, runtime):
    """The tables that a stage makes, the old ones out of the way."""
    shutil.rmtree(OUTPUTS[stage], ignore_errors=True)
    measured = {"metrics": ["mentions"]}  # its corpus has no facts
    by = {"by": "mentions.good", "rouge_loss": None}
    small_project.write_params(project, runtime=runtime, evaluation=measured, choice=by)
    STAGES[stage](load_params())
    return {path.name: path.read_bytes() for path in OUTPUTS[stage].glob("*.parquet")}


@pytest.mark.usefixtures("_cluster")
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_makes_the_bytes_that_it_makes_here(project, stage, monkeypatch):
    expected = made(project, stage, {"shard_documents": SMALL_UNITS})
    shutil.rmtree(project / ".brido")
    ray_nodes.wait_for_processors(2)
    written = []
    write = Shards.write

    def watched(self, index, *rest):
        written.append(index)
        write(self, index, *rest)

    monkeypatch.setattr(Shards, "write", watched)
    assert made(project, stage, RAY) == expected != {}
    assert len(written) == len(set(written)) > 1, "several units, each once"
    # What a model answered stays on its node: SQLite's files cannot be shared by machines.
    assert not Path(".brido/work/answers").exists()
