"""Workers on a Ray cluster of two nodes: the bytes of any other engine, whatever dies."""

import sys
import time
from functools import partial
from threading import Thread

import pytest
import ray_nodes
from toy_workers import (
    UNITS,
    Toy,
    behave,
    complain,
    contents,
    die_always,
    die_once,
    exhaust,
    fail,
    maker,
)

from brido.tables import DECODED
from brido.utils.errors import BridoError
from brido.work import Shards, Workers, run
from brido.work.settings import RayRuntime, RuntimeSettings
from brido.work.worker import core_workers, model_workers

ALL = range(len(UNITS))
RAY = Workers(ray=RayRuntime())


@pytest.fixture(scope="module")
def cluster():
    """Two nodes with a processor each."""
    with ray_nodes.connected(2) as nodes:
        yield nodes


def test_runtime_says_who_works():
    here, there = RuntimeSettings(threads=3, device="cpu"), RuntimeSettings(engine="ray", workers=5)
    assert model_workers(here) == Workers(["cpu"])
    assert core_workers(here) == Workers(["cpu"] * 3)
    assert model_workers(there) == Workers(("auto",), ray=RayRuntime(), number=5, with_model=True)
    assert core_workers(there) == Workers(ray=RayRuntime(), number=5)


def test_without_ray_there_is_a_sentence_and_nobody_else_needs_it(work, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BridoError, match=r'ray is not installed.*pip install "\.\[all\]"'):
        run(Shards("toy", "key", DECODED), UNITS, maker(work), RAY)
    run(Shards("toy", "key", DECODED), UNITS, maker(work))


@pytest.mark.slow
def test_the_bytes_are_those_of_one_worker_here(cluster, work, expected):
    shards = Shards("toy", "key", DECODED)
    run(shards, UNITS, maker(work), RAY)
    assert contents(shards) == expected
    assert len({path.read_text() for path in work.glob("did-*")}) == 2, "both nodes worked"


@pytest.mark.slow
def test_a_worker_that_dies_is_started_again(cluster, work, expected):
    shards = Shards("toy", "key", DECODED)
    run(shards, UNITS, maker(work, die_once), RAY)
    assert (work / "died").exists()
    assert contents(shards) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mischief", "sentence"),
    [
        (complain, "row 12 is no good:\n  - at all"),
        (exhaust, r"a worker's memory does not suffice; finished.*more runtime.ray.memory_gib for"),
        (fail, r"a worker of the cluster failed, see above; finished shards are kept"),
        (die_always, r"died 4 times .*finished shards are kept.*memory_gib"),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_shards_are_kept(
    cluster, work, expected, capfd, mischief, sentence
):
    shards = Shards("toy", "key", DECODED)
    with pytest.raises(BridoError, match=sentence):
        run(shards, UNITS, maker(work, mischief), RAY)
    assert ("ZeroDivisionError: a programming error" in capfd.readouterr().err) == (
        mischief is fail
    )
    done = [index for index in ALL if shards.done(index)]
    assert 0 < len(done) < len(UNITS)
    run(shards, UNITS, maker(work), RAY)
    assert contents(shards) == expected


@pytest.mark.slow
def test_a_worker_that_nobody_has_room_for(cluster, work):
    with pytest.raises(BridoError, match=r"asks for .*64.*, the cluster has .*2"):
        large = Workers(ray=RayRuntime(num_cpus=64.0))
        run(Shards("toy", "key", DECODED), UNITS, maker(work), large)


class Slow(Toy):
    """Takes its time, and notes what it begins."""

    def __call__(self, unit):
        (self.folder / f"begun-{unit.start}-{time.monotonic_ns()}").touch()
        time.sleep(0.5)
        return super().__call__(unit)


@pytest.mark.slow
def test_a_node_that_is_lost_in_the_middle(cluster, work, expected):
    """The last test of this cluster: one node is left, with room for one worker."""
    (lost,) = cluster.worker_nodes
    shards = Shards("toy", "key", DECODED)

    def end_node():
        deadline = time.monotonic() + 60
        while sum(map(shards.done, ALL)) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        cluster.remove_node(lost, allow_graceful=False)

    thread = Thread(target=end_node)
    thread.start()
    run(shards, UNITS, partial(Slow, work, behave), RAY)
    thread.join()
    assert contents(shards) == expected
    begun = len(list(work.glob("begun-*")))
    assert begun <= len(UNITS) + 1, "what was finished is not done again"
