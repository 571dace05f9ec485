"""Units of work to workers: one in this process, or a pool of threads or processes side by side.

A worker does one unit at a time and writes nothing: the driver alone writes shards, each with the
same rows whoever made them, so a stage ends in the same bytes with any number of workers. However
many units there are, only a few are in work at once, and memory stays constant.

`run` reaches every worker through a seat: something to call with a unit that answers with rows and
counts, or raises. Another engine is another kind of seat: `cluster` has those of Ray.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from queue import SimpleQueue
from typing import Any, Protocol

import pyarrow as pa

from brido.utils.device import is_out_of_memory
from brido.utils.errors import BridoError
from brido.utils.progress import Progress
from brido.work.endings import FOR_MEMORY, KEPT
from brido.work.process import ProcessSeat
from brido.work.shards import Shards
from brido.work.workers import Workers

# A unit's rows, and what is counted about them.
Result = tuple[pa.RecordBatch | list[dict[str, Any]], dict[str, Any]]
Advance = Callable[[int], None]
HERE = Workers()


class Worker(Protocol):
    """Does units; made once a process, where it loads what it needs, such as a model."""

    def __call__(self, unit: Any) -> Result:
        """The rows of a unit's shard, and counts that describe them (see `Shards.totals`).

        BridoError where a user can help it: it reaches the user as the sentence that it is.
        """


class AnySeat(Protocol):
    """Where a worker sits: in this process, in one of its own, on a cluster."""

    def __call__(self, unit: Sized) -> Result:
        """What the worker makes of the unit; BridoError where it cannot, or died."""

    def close(self) -> None:
        """End the worker, who has nothing left to do; a second time nothing."""


# Makes a worker for a device; it may tell of documents finished inside a unit by calling the second
# argument, and need not. Picklable wherever workers are processes.
MakeWorker = Callable[[str, Advance], Worker]


def run(
    shards: Shards,
    units: Sequence[Sized],
    make_worker: MakeWorker,
    workers: Workers = HERE,
    label: str = "",
    interval: float = 10.0,
) -> None:
    """Finish every shard that is not done: shard i holds the rows of unit i.

    Args:
        shards: where finished shards go, and what is found done there is not done again.
        units: picklable descriptions of the work, small (which rows of which file, not their
            texts); len() of a unit is its number of documents, for the progress line.
        make_worker: see MakeWorker; nobody is made where everything is done.
        workers: how many, and where; by default one, here.
        label: what the progress line is about.
        interval: seconds between progress lines where there is no terminal.

    Raises:
        BridoError: a worker's own, or that its process died. Finished shards are kept.
        KeyboardInterrupt: as it came, with the number of documents that are kept.
    """
    todo = [(index, unit) for index, unit in enumerate(units) if not shards.done(index)]
    with Progress(label, sum(map(len, units)), interval=interval) as progress:
        progress.skip(progress.total - sum(len(unit) for _, unit in todo))
        lock = threading.Lock()

        def advance(count: int) -> None:
            with lock:
                progress.advance(count)

        def finish(index: int, result: Result) -> None:
            shards.write(index, *result)

        try:
            _do(workers, make_worker, todo, advance, finish)
        except KeyboardInterrupt as stop:
            kept = sum(len(unit) for index, unit in enumerate(units) if shards.done(index))
            stop.args = (f"{kept:,} of {progress.total:,} documents are kept, run again to go on",)
            raise


def _do(
    workers: Workers,
    make_worker: MakeWorker,
    todo: Sequence[tuple[int, Sized]],
    advance: Advance,
    finish: Callable[[int, Result], None],
) -> None:
    """Do the units in the seats that `workers` names."""
    devices = workers.devices[: len(todo)]
    if workers.ray is not None and todo:
        from brido.work.cluster import cluster_seats

        with cluster_seats(workers, make_worker, len(todo), advance) as seats:
            _side_by_side(seats, todo, finish)
    elif len(devices) > 1:
        kind = Seat if workers.threads else ProcessSeat
        _side_by_side([kind(make_worker, device, advance) for device in devices], todo, finish)
    elif devices:
        seat = Seat(make_worker, devices[0], advance)
        for index, unit in todo:
            finish(index, seat(unit))


class Seat:
    """A worker in this process. It is made for its first unit."""

    def __init__(self, make_worker: MakeWorker, device: str, advance: Advance) -> None:
        self._make = lambda: make_worker(device, self._count)
        self._worker: Worker | None = None
        self._advance, self._left = advance, 0

    def __call__(self, unit: Sized) -> Result:
        """The unit's rows and counts; in the end all its documents have been told of."""
        self._left = len(unit)
        try:
            self._worker = self._worker or self._make()
            result = self._worker(unit)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            raise BridoError(f"a worker's memory does not suffice; {KEPT}, {FOR_MEMORY}") from None
        self._count(self._left)  # what the worker has not told of
        return result

    def _count(self, count: int) -> None:
        count = min(count, self._left)
        self._left -= count
        self._advance(count)

    def close(self) -> None:
        """Nothing to end."""


def _side_by_side(
    seats: Sequence[AnySeat],
    todo: Iterable[tuple[int, Sized]],
    finish: Callable[[int, Result], None],
) -> None:
    """Do all units, each in a seat that is free; `finish` runs in this thread, as results come."""
    free: SimpleQueue[AnySeat] = SimpleQueue()
    for seat in seats:
        free.put(seat)

    def work(unit: Sized) -> Result:
        seat = free.get()
        try:
            return seat(unit)
        finally:
            free.put(seat)

    units = iter(todo)
    running: dict[Future[Result], int] = {}
    working = len(seats)
    pool = ThreadPoolExecutor(len(seats))
    try:
        while True:
            # As many wait as work, so that no seat waits for a shard to be written.
            for index, unit in islice(units, 2 * working - len(running)):
                running[pool.submit(work, unit)] = index
            # Who has nothing left to do makes room: on a cluster, for a lost one to start again.
            for _ in range(working - len(running)):
                free.get().close()
                working -= 1
            if not running:
                return
            done = wait(running, return_when=FIRST_COMPLETED).done
            # Errors last: what is finished beside them is kept.
            for future in sorted(done, key=lambda future: future.exception() is not None):
                finish(running.pop(future), future.result())
    finally:
        for seat in seats:
            seat.close()
        pool.shutdown(cancel_futures=True)
