"""Workers on a Ray cluster: an actor each, on any node that has room.

Ray places the actors, starts lost ones again on nodes that live, and gives them their unit once
more; the driver alone writes shards. So the bytes are those of any other engine. All nodes see the
driver's folder under the same path.
"""

import contextlib
import logging
import math
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from types import ModuleType
from typing import Any

import brido
from brido.utils.errors import BridoError, first_line
from brido.utils.extras import extra
from brido.utils.signals import answering
from brido.work.settings import RayRuntime
from brido.work.worker import (
    RUN_AGAIN,
    MakeWorker,
    Result,
    Workers,
    executor,
)

# How often a worker that died is started again, and given its unit once more.
RETRIES = 3
# Variables of the driver's environment that change what a worker does.
CARRIED = ("BRIDO_", "HF_", "TRANSFORMERS_", "TOKENIZERS_", "ATEN_", "NUMBA_")


class RayWorker:
    """A worker on a node, as an actor; Ray makes it again on another node when its node is lost.

    It works in the driver's folder. What a worker keeps for itself (answers of models) is in a
    folder of its own: machines cannot share SQLite's files.
    """

    def __init__(
        self, version: str, environment: dict[str, str], folder: str, maker: bytes, device: str
    ) -> None:
        """maker: a pickled `MakeWorker`, read after the versions have been compared."""
        self._version, self._environment, self._folder = version, environment, folder
        self._maker, self._device = maker, device
        self._own = ""
        self._execute: Callable[[Sized], Result] | None = None

    def work(self, unit: Sized) -> Result | BridoError:
        """Return the unit's rows and counts, or the BridoError that it ends with."""
        try:
            if self._execute is None:
                self._enter()
                self._execute = executor(pickle.loads(self._maker), self._device)
            return self._execute(unit)
        except BridoError as error:
            return error

    def _enter(self) -> None:
        if self._version != brido.__version__:
            raise BridoError(
                f"runtime.engine: a node has brido {brido.__version__}, this machine "
                f"{self._version}: install the same on all of them"
            )
        if not os.path.isdir(self._folder):
            raise BridoError(f"runtime.engine: a node does not see {self._folder}: share it")
        self._own = tempfile.mkdtemp(prefix="brido-")
        os.environ.update(self._environment | {"BRIDO_WORK": self._own})
        os.chdir(self._folder)

    def leave(self) -> None:
        """Remove its own folder."""
        if self._own:
            shutil.rmtree(self._own, ignore_errors=True)


class RayPool:
    """Hands units to actors, to each one at a time; a context manager that ends them."""

    def __init__(self, ray: ModuleType, actors: Sequence[Any]) -> None:
        self._ray, self.size = ray, len(actors)
        self._free: SimpleQueue[Any] = SimpleQueue()
        for actor in actors:
            self._free.put(actor)
        self._threads = ThreadPoolExecutor(self.size)
        self._actors = list(actors)

    def __enter__(self) -> "RayPool":
        return self

    def __exit__(self, *error: object) -> None:
        for actor in [*self._actors]:
            self._end(actor)
        self._threads.shutdown(cancel_futures=True)

    def submit(self, unit: Sized) -> Future[Result]:
        """The unit's rows and counts, in future."""
        return self._threads.submit(self._work, unit)

    def release(self, number: int) -> None:
        """End actors without work, which makes room for a lost one to start again."""
        for _ in range(number):
            self._end(self._free.get())

    def _work(self, unit: Sized) -> Result:
        actor = self._free.get()
        try:
            result = self._ray.get(actor.work.remote(unit))
        except self._ray.exceptions.RayTaskError as error:
            print(error, file=sys.stderr, flush=True)
            raise BridoError(f"a worker of the cluster failed, see above; {RUN_AGAIN}") from None
        except self._ray.exceptions.RayError as error:
            raise BridoError(
                f"a worker of the cluster died {RETRIES + 1} times ({first_line(error)}); "
                f"{RUN_AGAIN}"
            ) from None
        finally:
            self._free.put(actor)
        if isinstance(result, BridoError):
            raise result
        return result

    def _end(self, actor: Any) -> None:
        self._actors.remove(actor)
        self._ray.wait([actor.leave.remote()], timeout=1.0)
        self._ray.kill(actor)


@contextlib.contextmanager
def cluster_pool(workers: Workers, make_worker: MakeWorker, limit: int) -> Iterator[RayPool]:
    """`workers.number` workers, or as many as there is room for, but no more than `limit`.

    They run on the cluster of RAY_ADDRESS, or on one that is started here and ends with them.

    Raises:
        BridoError: Ray is not installed, no cluster answers, or there is no room for a worker.
    """
    with _connected() as ray:
        settings, device = workers.ray or RayRuntime(), workers.devices[0]
        there = ray.cluster_resources()
        gpu = workers.with_model and device in ("auto", "cuda") and there.get("GPU", 0) > 0
        gpus = float(gpu) if settings.num_gpus is None else settings.num_gpus
        memory = (settings.memory_gib or 0.0) * 2**30
        share = {"CPU": settings.num_cpus, "GPU": gpus, "memory": memory}
        number = min(limit, workers.number or _room(share, there))
        actor = ray.remote(
            num_cpus=settings.num_cpus,
            num_gpus=gpus,
            memory=memory or None,
            max_restarts=RETRIES,
            # Every attempt to reach a lost node counts as one; what is counted are the restarts.
            max_task_retries=-1,
        )(RayWorker)
        environment = {k: v for k, v in os.environ.items() if k.startswith(CARRIED)}
        setup = (brido.__version__, environment, os.getcwd(), pickle.dumps(make_worker), device)
        with RayPool(ray, [actor.remote(*setup) for _ in range(number)]) as pool:
            yield pool


def _room(share: dict[str, float], there: dict[str, float]) -> int:
    wanted = {name: amount for name, amount in share.items() if amount > 0}
    room = min(math.floor(there.get(name, 0.0) / wanted[name] + 1e-9) for name in wanted)
    if room < 1:
        has = {name: there.get(name, 0.0) for name in share}
        raise BridoError(
            f"runtime.ray: a worker asks for {wanted}, the cluster has {has}: ask less"
        )
    return room


@contextlib.contextmanager
def _connected() -> Iterator[ModuleType]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with extra():
        import ray
    if ray.is_initialized():
        yield ray
        return
    address = os.environ.get("RAY_ADDRESS")
    try:
        with answering():
            ray.init(
                address=address or "local",
                include_dashboard=None if address else False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
    except Exception as error:
        where = f"at RAY_ADDRESS {address}" if address else "here"
        raise BridoError(f"runtime.engine: no Ray {where} ({first_line(error)})") from None
    try:
        yield ray
    finally:
        ray.shutdown()
