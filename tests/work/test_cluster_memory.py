"""Workers on a Ray node short of memory: Ray's own monitor ends them, and they are named."""

import pytest
import ray_nodes
from toy_workers import UNITS, maker, sleep

from brido.tables import DECODED
from brido.utils.errors import BridoError
from brido.work import Shards, Workers, run
from brido.work.settings import RayRuntime

RAY = Workers(ray=RayRuntime())

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def _short_of_memory():
    """A node on which any memory in use is too much."""
    with ray_nodes.connected(1, memory_usage_threshold=0.0):
        yield


@pytest.mark.usefixtures("_short_of_memory")
def test_a_worker_that_the_nodes_monitor_ends_is_named(tmp_path):
    with pytest.raises(BridoError) as error:
        run(Shards("toy", "key", DECODED), UNITS, maker(tmp_path, sleep), RAY)
    assert str(error.value) == (
        "a worker of the cluster died 4 times (memory ran out on its node); finished shards are "
        "kept, run again to go on, with fewer workers (on a cluster: more runtime.ray.memory_gib "
        "for each) or smaller batches if memory is short"
    )
