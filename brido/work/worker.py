"""Workers, where they are, and what runs one: a unit goes in, its rows and counts come out.

`executor` runs one in this process, `ProcessPool` some in processes of their own, `cluster.RayPool`
some on a Ray cluster.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence, Sized
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.queues import SimpleQueue
from typing import Any

import pyarrow as pa

from brido.utils.device import is_out_of_memory
from brido.utils.errors import BridoError
from brido.work.settings import RayRuntime, RuntimeSettings

# A unit's rows, and what is counted about them.
Result = tuple[pa.RecordBatch | list[dict[str, Any]], dict[str, Any]]


# advance(count, tokens=0) is told of so many more documents, and of tokens written about one that
# is not finished yet.
Advance = Callable[..., None]
# Of the errors of a worker that ends before its work does.
RUN_AGAIN = (
    "finished shards are kept, run again to go on, with fewer workers (on a cluster: more "
    "runtime.ray.memory_gib for each) or smaller batches if memory is short"
)


# Gives the rows of a unit's shard, and counts that describe them; a BridoError of it reaches the
# user unchanged. It is made once a process, where it loads what it needs.
Worker = Callable[[Any], Result]
# Makes a worker for a device; the worker may report what it does inside a unit by calling the
# second argument, and need not; it is heard where the worker is in the driver's process. Picklable
# wherever workers are processes.
MakeWorker = Callable[[str, Advance], Worker]


@dataclass(frozen=True)
class Workers:
    """The workers of a run: one for each of `devices`, such as `cuda:0`.

    A single one works in this process. Several have a process each.

    With `ray` they run on a Ray cluster instead, `number` of them or as many as it has room for,
    all on the first of `devices`; `with_model`: each wants a GPU if there are any.
    """

    devices: Sequence[str] = ("cpu",)
    ray: RayRuntime | None = None
    number: int | None = None
    with_model: bool = False


def model_workers(runtime: RuntimeSettings) -> Workers:
    """Return workers that run a model each, by `runtime.workers` and `runtime.device`.

    None workers are one a GPU where the device leaves open which one (auto, cuda), else one.
    Workers share the GPUs evenly.
    """
    if runtime.engine == "ray":
        return Workers((runtime.device,), ray=runtime.ray, number=runtime.workers, with_model=True)
    if runtime.device in ("auto", "cuda"):
        import torch

        gpus = torch.cuda.device_count()
        if gpus > 1:
            return Workers([f"cuda:{number % gpus}" for number in range(runtime.workers or gpus)])
    return Workers([runtime.device] * (runtime.workers or 1))


def core_workers(runtime: RuntimeSettings) -> Workers:
    """Return a worker for each core of `runtime.threads`, or that this process may use."""
    if runtime.engine == "ray":
        return Workers(ray=runtime.ray, number=runtime.workers)
    return Workers(["cpu"] * (runtime.threads or usable_cores()))


def usable_cores() -> int:
    """How many cores this process may use: Slurm and Docker give it a part of the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def unheard(count: int, /, *, tokens: int = 0) -> None:
    """Count nothing: no progress is shown, or the driver counts whole units by itself."""


def executor(
    make_worker: MakeWorker, device: str, advance: Advance = unheard
) -> Callable[[Sized], Result]:
    """What does units with a worker in this process, made for the first of them.

    When a unit is done, all its documents have been reported to `advance`.
    """
    worker: Worker | None = None
    left = 0

    def count(documents: int, /, *, tokens: int = 0) -> None:
        nonlocal left
        documents = min(documents, left)
        left -= documents
        advance(documents, tokens=tokens)

    def execute(unit: Sized) -> Result:
        nonlocal worker, left
        left = len(unit)
        try:
            worker = worker or make_worker(device, count)
            result = worker(unit)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            raise BridoError(f"a worker's memory does not suffice; {RUN_AGAIN}") from None
        count(left)  # what the worker has not reported
        return result

    return execute


class ProcessPool:
    """Workers in processes of their own, one for each device; a context manager that ends them.

    The processes are spawned, not forked: neither CUDA nor threads survive a fork.
    """

    def __init__(self, make_worker: MakeWorker, devices: Sequence[str]) -> None:
        context = multiprocessing.get_context("spawn")
        self.size = len(devices)
        queue = context.SimpleQueue()
        for device in devices:
            queue.put(device)
        # Its end is how workers learn that they are to end: also when the driver is killed.
        theirs, self._open = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            self.size, context, initializer=_start, initargs=(make_worker, queue, theirs)
        )

    def __enter__(self) -> "ProcessPool":
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()
        self._pool.shutdown(cancel_futures=True)

    def submit(self, unit: Sized) -> Future[Result]:
        """The unit's rows and counts, in future; BrokenProcessPool there or here: one died."""
        # Ctrl-C reaches all processes of a terminal: the driver answers it and ends these. The
        # tracker, started beside the first process, would take the block away.
        resource_tracker.ensure_running()
        former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self._pool.submit(_work, unit)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _start(make_worker: MakeWorker, devices: SimpleQueue[str], driver: Connection) -> None:
    """Prepare a worker's process."""
    global _execute
    threading.Thread(target=_end_with, args=(driver,), daemon=True).start()
    _execute = executor(make_worker, devices.get())


def _work(unit: Sized) -> Result:
    return _execute(unit)


_execute: Callable[[Sized], Result]


def _end_with(driver: Connection) -> None:
    """End this process at once when the driver closes its end of the pipe."""
    with contextlib.suppress(EOFError, OSError):
        driver.recv()
    os._exit(1)
