"""Stages on a Ray cluster of two nodes: the bytes that they make here.

What happens when a worker or a node dies is tested in tests/work/test_cluster.py.
"""

import shutil
from pathlib import Path

import finished_run
import pytest
import ray_nodes

from brido.work import Shards
from stages import evaluate, pairwise

pytestmark = pytest.mark.slow

# A few documents a unit, so that every stage has several.
SMALL_UNITS = 3
# One stage of each kind: a model's writing, compiled code's, a model's scores, a metric's.
STAGES = [("generate", "base"), ("pairwise",), ("likelihood",), ("evaluate", "vote")]


@pytest.fixture(scope="module")
def _cluster():
    """Two nodes with a processor each."""
    with ray_nodes.connected(2):
        yield


def tables():
    return {path: path.read_bytes() for path in Path("data").rglob("*.parquet")}


@pytest.mark.usefixtures("_cluster")
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage[0])
def test_a_stage_makes_the_bytes_that_it_makes_here(finished, stage, monkeypatch):
    monkeypatch.setattr(pairwise, "SHARD_DOCUMENTS", SMALL_UNITS)
    monkeypatch.setattr(evaluate, "PART", SMALL_UNITS)
    made, written, write = [], [], Shards.write

    def watched(self, index, *rest):
        written.append((self, index))
        write(self, index, *rest)

    ray_nodes.wait_for_processors(2)
    for engine in ("here", "ray"):
        # Batches of other sizes round otherwise: both have the same units.
        runtime = {"engine": engine, "shard_documents": SMALL_UNITS}
        finished_run.write_params(finished, runtime=runtime)
        shutil.rmtree(".brido")
        if engine == "ray":
            monkeypatch.setattr(Shards, "write", watched)
        finished_run.run(monkeypatch, *stage)
        made.append(tables())
    assert made[0] == made[1]
    assert len(written) == len({(id(shards), index) for shards, index in written}) > 1
    # What a model answered stays on its node: SQLite's files cannot be shared by machines.
    assert not Path(".brido/work/answers").exists()
