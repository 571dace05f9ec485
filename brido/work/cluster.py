"""Workers on a Ray cluster: an actor each, wherever the cluster has room.

Ray finds the places, starts lost workers again on nodes that live, and gives them their unit once
more; the driver alone writes shards. So the bytes are those of any other engine, whatever dies.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sized
from pathlib import Path
from types import ModuleType
from typing import Any

import brido
from brido.utils.errors import BridoError
from brido.work.desk import Desk, Setup
from brido.work.endings import FOR_MEMORY, KEPT
from brido.work.running import Advance, MakeWorker, Result
from brido.work.settings import RayRuntime
from brido.work.travel import Packer
from brido.work.workers import Workers

# How often a worker that died is started again, and given its unit once more.
RETRIES = 3
# Variables of the driver's environment that change what a worker does.
CARRIED = ("BRIDO_", "HF_", "TRANSFORMERS_", "TOKENIZERS_", "ATEN_", "NUMBA_")


class RaySeat:
    """A worker on the cluster: hands it units, one at a time, and tells of its progress."""

    def __init__(self, desk: Any, packer: Packer, advance: Advance) -> None:
        self._desk, self._packer, self._advance = desk, packer, advance
        self._open = True

    def __call__(self, unit: Sized) -> Result:
        """The unit's rows and counts; BridoError is the worker's own, or says that it died."""
        import ray

        answer = self._desk.work.remote(self._packer.pack(unit), self._packer.stored)
        told = 0
        while not ray.wait([answer], timeout=1.0)[0]:
            now = min(self._told(), len(unit))
            self._advance(max(now - told, 0))
            told = max(now, told)
        result = _result(answer)
        self._advance(len(unit) - told)
        return result

    def _told(self) -> int:
        """What the worker tells; 0 while it is being started again."""
        import ray

        with contextlib.suppress(ray.exceptions.RayError):
            return ray.get(self._desk.told.remote(), timeout=1.0)
        return 0

    def close(self) -> None:
        """End the worker at once, which frees its place on the cluster."""
        import ray

        if self._open:
            self._open = False
            ray.wait([self._desk.leave.remote()], timeout=1.0)
            ray.kill(self._desk)


def _result(answer: Any) -> Result:
    import ray

    try:
        result = ray.get(answer)
    except ray.exceptions.RayTaskError as error:
        print(error, file=sys.stderr, flush=True)
        raise BridoError(f"a worker of the cluster failed, see above; {KEPT}") from None
    except ray.exceptions.RayError as error:
        raise BridoError(_death(error)) from None
    if isinstance(result, BridoError):
        raise result
    return result


def _death(error: Exception) -> str:
    text = str(error)
    if "No module named 'brido" in text:
        return (
            "runtime.engine: a node of the cluster has no brido: install version "
            f"{brido.__version__} on all of them"
        )
    # The node's monitor ends a worker before the system does, and says so.
    low = "low on memory" in text or type(error).__name__ == "OutOfMemoryError"
    reason = "memory ran out on its node" if low else "memory ran out, or somebody ended it"
    return f"a worker of the cluster died {RETRIES + 1} times ({reason}); {KEPT}, {FOR_MEMORY}"


@contextlib.contextmanager
def cluster_seats(
    workers: Workers, make_worker: MakeWorker, limit: int, advance: Advance
) -> Iterator[list[RaySeat]]:
    """`workers.number` workers, or as many as there is room for, but no more than `limit`.

    They sit on the cluster of RAY_ADDRESS, or on one that is started here and ends with them.

    Raises:
        BridoError: Ray is not installed, nobody answers, or there is no room for a worker.
    """
    with _connected() as ray:
        settings, device = workers.ray or RayRuntime(), workers.devices[0]
        there = ray.cluster_resources()
        gpu = workers.with_model and device in ("auto", "cuda") and there.get("GPU", 0) > 0
        gpus = float(gpu) if settings.num_gpus is None else settings.num_gpus
        memory = (settings.memory_gib or 0.0) * 2**30
        share = {"CPU": settings.num_cpus, "GPU": gpus, "memory": memory}
        number = min(limit, workers.number or _room(share, there))
        desk = ray.remote(
            num_cpus=settings.num_cpus,
            num_gpus=gpus,
            memory=memory or None,
            max_concurrency=2,
            max_restarts=RETRIES,
            # Every attempt to reach a lost node counts as one; what is counted are the restarts.
            max_task_retries=-1,
        )(Desk)
        environment = {k: v for k, v in os.environ.items() if k.startswith(CARRIED)}
        folder = str(Path.cwd()) if settings.shared_files else None
        packer = Packer(None if settings.shared_files else ray.put)
        setup = Setup(brido.__version__, environment, folder, packer.pack(make_worker), device)
        yield [RaySeat(desk.remote(setup), packer, advance) for _ in range(number)]


def _room(share: dict[str, float], there: dict[str, float]) -> int:
    """How many workers fit; BridoError where none does."""
    room = min(
        math.floor(there.get(name, 0.0) / amount + 1e-9)
        for name, amount in share.items()
        if amount > 0
    )
    if room < 1:
        asked = ", ".join(f"{name} {amount:g}" for name, amount in share.items() if amount > 0)
        has = ", ".join(f"{name} {there.get(name, 0.0):g}" for name in share)
        raise BridoError(
            f"runtime.ray: a worker asks for {asked}, and the whole cluster has {has}: ask for less"
        )
    return room


@contextlib.contextmanager
def _connected() -> Iterator[ModuleType]:
    """Ray, with a cluster to talk to."""
    # Nobody is told that this ran.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise BridoError("runtime.engine: ray needs Ray: pip install 'brido[ray]'") from None
    if ray.is_initialized():
        yield ray
        return
    address = os.environ.get("RAY_ADDRESS")
    try:
        with _own_signals():
            ray.init(
                address=address or "local",
                include_dashboard=None if address else False,
                log_to_driver=False,
                logging_level="ERROR",
            )
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        what = f"RAY_ADDRESS: no cluster at {address}" if address else "no local Ray started"
        raise BridoError(f"runtime.engine: {what} ({reason})") from None
    try:
        yield ray
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Ray takes SIGTERM for itself; whoever had it keeps it."""
    main = threading.current_thread() is threading.main_thread()
    former = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT) if main}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
