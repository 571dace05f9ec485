"""Ray nodes on loopback, with this process as their driver."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def connected(count: int, **system: Any) -> Iterator[Any]:
    """A `ray.cluster_utils.Cluster` of so many nodes with a processor each.

    The head looks often whether they live; `system` are further settings of Ray's own. Skips the
    test where there is no Ray.
    """
    ray = pytest.importorskip("ray", reason="pip install ray")
    with pytest.MonkeyPatch.context() as patch:
        # Nodes find the workers of a test as the driver does.
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        nodes = _start(count, {"health_check_period_ms": 500} | system)
        try:
            ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
            yield nodes
        finally:
            ray.shutdown()
            nodes.shutdown()


def _start(count: int, system: dict[str, Any], attempts: int = 3) -> Any:
    """On a busy machine a node may take longer to start than Ray waits."""
    from ray.cluster_utils import Cluster

    try:
        head = {"num_cpus": 1, "_system_config": system}
        nodes = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(count - 1):
            nodes.add_node(num_cpus=1)
    except Exception:
        if attempts == 1:
            raise
        return _start(count, system, attempts - 1)
    return nodes


def wait_for_processors(count: int) -> None:
    """Until so many processors are known and free: nodes have come or gone, workers have ended."""
    import ray

    deadline = time.monotonic() + 120
    while not ray.cluster_resources().get("CPU") == ray.available_resources().get("CPU") == count:
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)
