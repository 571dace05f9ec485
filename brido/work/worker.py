"""Workers, where they are, and what runs one: a unit goes in, its rows and counts come out.

An executor owns one worker and hands it units, one at a time: `LocalExecutor` in this process,
`ProcessExecutor` in one of its own, `cluster.RayExecutor` on a Ray cluster.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from brido.utils.device import is_out_of_memory, worker_devices
from brido.utils.errors import BridoError
from brido.work.settings import RayRuntime, RuntimeSettings

# A unit's rows, and what is counted about them.
Result = tuple[pa.RecordBatch | list[dict[str, Any]], dict[str, Any]]


class Advance(Protocol):
    """Is told of finished documents, and of tokens written about one that is not finished yet."""

    def __call__(self, count: int, /, *, tokens: int = 0) -> None:
        """Note `count` more documents and `tokens` more tokens."""


class Advanced(NamedTuple):
    """What a worker's process reports to the driver (see `Advance`)."""

    documents: int
    tokens: int


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


# Makes a worker for a device; the worker may report what it does inside a unit by calling the
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

    def _count(self, count: int, /, *, tokens: int = 0) -> None:
        count = min(count, self._left)
        self._left -= count
        self._advance(count, tokens=tokens)

    def close(self) -> None:
        """Do nothing: there is no process to end."""


class ProcessExecutor:
    """Starts a process for a worker and hands it units, one at a time.

    The process is spawned, not forked: neither CUDA nor threads survive a fork.
    """

    def __init__(self, make_worker: MakeWorker, device: str, advance: Advance) -> None:
        context = multiprocessing.get_context("spawn")
        self._advance = advance
        self._connection, theirs = context.Pipe()
        arguments = (theirs, make_worker, device)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        # Ctrl-C reaches all processes of a terminal: the driver answers it and ends this one.
        # The tracker, started beside the first process, would take the block away.
        resource_tracker.ensure_running()
        former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, former)
        theirs.close()  # so that its death ends the pipe

    def __call__(self, unit: Sized) -> Result:
        try:
            self._connection.send(unit)
            while isinstance(answer := self._connection.recv(), Advanced):
                self._advance(answer.documents, tokens=answer.tokens)
        except (EOFError, OSError):
            raise BridoError(self._death()) from None
        if isinstance(answer, BridoError):
            raise answer
        return answer

    def _death(self) -> str:
        self._process.join()
        code = self._process.exitcode or 0
        if code >= 0:
            return f"a worker process failed (exit code {code}), see above; {SHARDS_STAY}"
        reason = " (memory ran out, or it was killed)" if -code == signal.SIGKILL else ""
        name = signal.Signals(-code).name
        return f"a worker process was ended by {name}{reason}; {SHARDS_STAY}, {SAVE_MEMORY}"

    def close(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.join()


def _serve(connection: Connection, make_worker: MakeWorker, device: str) -> None:
    """Run the worker's process: units come in, counts and then an answer go out."""
    threading.Thread(target=_end_with_driver, daemon=True).start()

    def report(count: int, /, *, tokens: int = 0) -> None:
        connection.send(Advanced(count, tokens))

    execute = LocalExecutor(make_worker, device, report)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            unit = connection.recv()
            answer: Any
            try:
                answer = execute(unit)
            except BridoError as error:
                answer = error
            connection.send(answer)


def _end_with_driver() -> None:
    """End this process when the driver ends: a killed driver ends no worker itself."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
    os._exit(1)
