"""Workers, where they are, and what runs one: a unit goes in, its rows and counts come out.

An executor owns one worker and hands it units, one at a time: `LocalExecutor` in this process,
`process.ProcessExecutor` in one of its own, `cluster.RayExecutor` on a Ray cluster.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from brido.utils.device import is_out_of_memory, worker_devices
from brido.utils.errors import BridoError
from brido.work.settings import RayRuntime, RuntimeSettings

# A unit's rows, and what is counted about them.
Result = tuple[pa.RecordBatch | list[dict[str, Any]], dict[str, Any]]
Advance = Callable[[int], None]

# Parts of the errors of a worker that ends before its work does.
SHARDS_STAY = "finished shards are kept, run again to go on"
SAVE_MEMORY = (
    "with fewer workers (on a cluster: more runtime.ray.memory_gib for each) or smaller batches if "
    "memory is short"
)


class Worker(Protocol):
    """Does units; made once a process, where it loads what it needs, such as a model."""

    def __call__(self, unit: Any, /) -> Result:
        """Return the rows of a unit's shard, and counts that describe them (see `Shards.totals`).

        BridoError for what a user can mend: its message reaches the user unchanged.
        """


# Makes a worker for a device; the worker may report documents finished inside a unit by calling the
# second argument, and need not. Picklable wherever workers are processes.
MakeWorker = Callable[[str, Advance], Worker]


@dataclass(frozen=True)
class Workers:
    """The workers of a run: one for each of `devices`, such as `cuda:0`.

    A single one works in this process. Several have a process each, or with `threads`, for compiled
    code that runs without the interpreter's lock, a thread.

    With `ray` they run on a Ray cluster instead, `number` of them or as many as it has room for,
    all on the first of `devices`; `with_model`: each wants a GPU if there are any.
    """

    devices: Sequence[str] = ("cpu",)
    threads: bool = False
    ray: RayRuntime | None = None
    number: int | None = None
    with_model: bool = False


def model_workers(runtime: RuntimeSettings) -> Workers:
    """Return workers that run a model each, by `runtime.workers` and `runtime.device`."""
    if runtime.engine == "ray":
        return Workers((runtime.device,), ray=runtime.ray, number=runtime.workers, with_model=True)
    return Workers(worker_devices(runtime.device, runtime.workers))


def core_workers(runtime: RuntimeSettings, threads: bool) -> Workers:
    """Return a worker for each core of `runtime.threads`: a thread if `threads`, or a process."""
    if runtime.engine == "ray":
        return Workers(ray=runtime.ray, number=runtime.workers)
    return Workers(["cpu"] * (runtime.threads or os.cpu_count() or 1), threads)


class Executor(Protocol):
    """Runs a worker, here or elsewhere."""

    def __call__(self, unit: Sized) -> Result:
        """Return what the worker makes of the unit; BridoError if it cannot, or if it died."""

    def close(self) -> None:
        """End the worker, which has nothing left to do; a second call does nothing."""


class LocalExecutor:
    """A worker in this process, made for its first unit."""

    def __init__(self, make_worker: MakeWorker, device: str, advance: Advance) -> None:
        self._make = lambda: make_worker(device, self._count)
        self._worker: Worker | None = None
        self._advance, self._left = advance, 0

    def __call__(self, unit: Sized) -> Result:
        """Return the unit's rows and counts; by then all its documents have been reported."""
        self._left = len(unit)
        try:
            self._worker = self._worker or self._make()
            result = self._worker(unit)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            raise BridoError(
                f"a worker's memory does not suffice; {SHARDS_STAY}, {SAVE_MEMORY}"
            ) from None
        self._count(self._left)  # what the worker has not reported
        return result

    def _count(self, count: int) -> None:
        count = min(count, self._left)
        self._left -= count
        self._advance(count)

    def close(self) -> None:
        """Do nothing: there is no process to end."""
