"""The stages on a Ray cluster of two nodes: the bytes that they make here, whatever is lost."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from threading import Thread

import pytest
import ray_nodes
import small_project
import tiny_minichecks
from pool_rows import pooled

from brido.candidates.local import CandidateWorker
from brido.settings.load import load_params
from brido.tables import POOL, write_table
from brido.utils.errors import BridoError
from brido.vote.similarity import Comparer
from brido.work import Shards
from stages import decode, evaluate, generate, pairwise, paths, support

pytestmark = pytest.mark.slow

# A few documents a unit, so that every stage has several.
SMALL_UNITS = 3
RAY = {"engine": "ray", "shard_documents": SMALL_UNITS}
STAGES = {
    "generate": lambda params: generate.make(params, "base"),
    "pairwise": lambda params: pairwise.compare("train", params),
    "decode": lambda params: decode.decode(params, "base"),
    "support": lambda params: support.check(params, ["validation"]),
    "rouge": lambda params: evaluate.evaluate(params, "rouge", "base"),
    "minicheck": lambda params: evaluate.evaluate(params, "minicheck", "base"),
}
OUTPUTS = {
    "generate": paths.candidates("base", "train").parent,
    "pairwise": paths.similarity("train").parent,
    "decode": paths.decoded("base", "test").parent,
    "support": paths.support("base").parent,
    "rouge": paths.evaluation("rouge", "base").parent,
    "minicheck": paths.evaluation("minicheck", "base").parent,
}


@pytest.fixture(scope="module")
def _units():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairwise, "SHARD_DOCUMENTS", SMALL_UNITS)
        patch.setattr(evaluate, "PART", SMALL_UNITS)
        patch.delenv("BRIDO_WORK", raising=False)
        yield


@pytest.fixture(scope="module")
def made_here(tmp_path_factory, _units):
    """A project in which every stage has run here."""
    folder = tmp_path_factory.mktemp("here")
    small_project.write_project(folder)
    write_pool(folder)
    write_params(folder, {"shard_documents": SMALL_UNITS})
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        params = load_params()
        for run in STAGES.values():
            run(params)
    return folder


def write_pool(folder):
    """Candidates that do not depend on what a random model writes."""
    for split in ("train", "validation"):
        documents = range(small_project.SPLITS[split])
        words = [small_project.document(number).split() for number in documents]
        rows = [
            pooled(f"{split}-{n}", [" ".join(words[n][i : i + 5]) for i in range(4)])
            for n in documents
        ]
        write_table(folder / paths.pool(split), [rows], POOL)


@pytest.fixture
def project(made_here, tmp_path, monkeypatch):
    """A copy of that project with another engine, and without what models answered."""
    shutil.copytree(made_here, tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / ".brido")
    write_params(tmp_path, RAY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_params(folder, runtime):
    checker = folder.parent / "checker"
    if not checker.exists():
        tiny_minichecks.save("t5", checker)
    evaluation = {"minicheck": {"model": str(checker)}}
    small_project.write_params(folder, runtime=runtime, evaluation=evaluation)


@pytest.fixture(scope="module")
def nodes():
    with ray_nodes.connected(2) as nodes:
        yield nodes


@pytest.fixture
def cluster(nodes):
    """Two nodes with a processor each, both free; one that a test has lost is replaced."""
    if not nodes.worker_nodes:
        nodes.add_node(num_cpus=1)
    ray_nodes.wait_for_processors(2)
    return nodes


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def made_again(stage):
    """What a stage makes in this folder, its old tables out of the way."""
    shutil.rmtree(OUTPUTS[stage])
    STAGES[stage](load_params())
    return contents(OUTPUTS[stage])


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_makes_the_bytes_that_it_makes_here(project, made_here, stage, monkeypatch):
    written = []
    write = Shards.write

    def watched(self, index, *rest):
        written.append(index)
        write(self, index, *rest)

    monkeypatch.setattr(Shards, "write", watched)
    assert made_again(stage) == contents(made_here / OUTPUTS[stage]) != {}
    assert len(written) == len(set(written)) > 1, "several units, each once"
    # What a model answered stays on its node: SQLite's files cannot be shared by machines.
    assert not Path(".brido/work/answers").exists()


@pytest.mark.usefixtures("cluster")
def test_corpus_and_checkpoint_travel_where_no_files_are_shared(project, made_here):
    write_params(project, RAY | {"ray": {"shared_files": False}})
    assert made_again("generate") == contents(made_here / OUTPUTS["generate"])


@pytest.mark.usefixtures("cluster")
def test_what_a_stage_refuses_is_the_sentence_that_it_is_here(project):
    small_project.write_params(project, runtime=RAY, reading={"default": {"max_source_tokens": 41}})
    with pytest.raises(BridoError, match=r"max_source_tokens \(41\) is more than the model's 40"):
        generate.make(load_params(), "base")


class Watched:
    """Notes in `starts` who begins what. The second unit of the node that `doomed` names is never
    finished; until it has begun the other node does no more than one."""

    units = 0

    def __call__(self, unit):
        import ray

        node = ray.get_runtime_context().get_node_id()
        started = Path("starts") / f"{time.monotonic_ns()}-{os.getpid()}"
        started.write_text(f"{unit!r}\n{node}\n{os.getpid()}")
        self.units += 1
        if self.units == 2 and node == Path("doomed").read_text():
            Path("held").write_text(f"{os.getpid()}")
            time.sleep(600)
        if self.units == 2:
            wait_for(Path("held").exists)
        return super().__call__(unit)


class WatchedCandidates(Watched, CandidateWorker):
    """The worker of stage generate."""


class WatchedComparer(Watched, Comparer):
    """The worker of stage pairwise."""


def starts():
    """Unit, node and process of every beginning so far."""
    texts = [path.read_text().split("\n") for path in sorted(Path("starts").iterdir())]
    return [text for text in texts if len(text) == 3]


def wait_for(condition, seconds=300.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def shards_done():
    return len(list(Path(".brido/work").rglob("[0-9]*.parquet")))


@pytest.mark.parametrize(
    ("stage", "place", "worker"),
    [
        ("generate", "brido.candidates.local.CandidateWorker", WatchedCandidates),
        ("pairwise", "stages.pairwise.Comparer", WatchedComparer),
    ],
)
def test_a_node_killed_in_the_middle(
    cluster, project, made_here, monkeypatch, stage, place, worker
):
    monkeypatch.setattr(place, worker)
    (lost,) = cluster.worker_nodes
    Path("starts").mkdir()
    Path("doomed").write_text(lost.node_id)
    done = []

    def kill():
        wait_for(lambda: Path("held").exists() and shards_done() >= 3)
        done.append(shards_done())
        cluster.remove_node(lost, allow_graceful=False)
        # Nothing of a machine that is gone goes on.
        os.kill(int(Path("held").read_text()), signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    found = made_again(stage)
    killer.join()
    assert found == contents(made_here / OUTPUTS[stage])
    begun = Counter(unit for unit, _, _ in starts())
    (again,) = [unit for unit, times in begun.items() if times > 1]
    assert begun[again] == 2, "what was finished is not done again, what was lost is, once"
    assert [node == lost.node_id for unit, node, _ in starts() if unit == again] == [True, False]
    assert done[0] >= 3


# A shell that starts tests in the background has them ignore Ctrl-C.
COMMAND = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["stages.generate", "base"]
runpy.run_module("stages.generate", run_name="__main__", alter_sys=True)
"""


def test_ctrl_c_ends_the_workers_and_keeps_the_shards(cluster, project):
    documents = [small_project.document(number) for number in range(150)]
    small_project.write_corpus(project, "train", documents)
    small = {"shard_documents": 1, "log_seconds": 1e-6}
    small_project.write_params(project, runtime=RAY | small, documents={"train": None})
    shutil.rmtree(OUTPUTS["generate"])
    driver = subprocess.Popen(
        [sys.executable, "-c", COMMAND],
        env=small_project.environment(RAY_ADDRESS=cluster.address),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(lambda: shards_done() >= 5 or driver.poll() is not None)
        driver.send_signal(signal.SIGINT)
        said = driver.communicate(timeout=300)[1]
    finally:
        driver.kill()
    kept = shards_done()
    assert driver.returncode == 130, said
    *progress, last = said.splitlines()
    assert last == f"interrupted; {kept} of 157 documents are kept, run again to go on"
    assert 5 <= kept < 157
    # One line of progress for both workers.
    lines = [re.match(r"generate base: (\d+)/157 documents, .*/s", line) for line in progress]
    assert all(lines), said
    counts = [int(line[1]) for line in lines]
    assert counts == sorted(counts)
    ray_nodes.wait_for_processors(2)
    assert not OUTPUTS["generate"].exists()
    # Who goes on need not be who began.
    small_project.write_params(project, runtime={"shard_documents": 1}, documents={"train": None})
    begun = []
    run = CandidateWorker.__call__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CandidateWorker, "__call__", lambda *a: begun.append(1) or run(*a))
        generate.make(load_params(), "base")
    assert len(begun) == 157 - kept
    whole = contents(OUTPUTS["generate"])
    shutil.rmtree(OUTPUTS["generate"])
    generate.make(load_params(), "base")
    assert contents(OUTPUTS["generate"]) == whole
