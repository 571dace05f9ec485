"""Units of work to workers: one in this process, or a pool of threads or processes side by side.

A worker does one unit at a time and writes nothing: the driver alone writes shards. A shard's rows
do not depend on the worker, so a stage ends in the same bytes with any number of workers. Only a
few units are in work at once, so memory stays constant.

`run` reaches every worker through an executor (`worker.Executor`): here, in a process, or on Ray.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from queue import SimpleQueue

from brido.utils.progress import Progress
from brido.work.process import ProcessExecutor
from brido.work.shards import Shards
from brido.work.worker import Advance, Executor, LocalExecutor, MakeWorker, Result
from brido.work.workers import Workers

HERE = Workers()


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
        shards: where finished shards go; what is finished there is not done again.
        units: picklable descriptions of the work, small (which rows of which file, not their
            texts); len() of a unit is its number of documents, for the progress line.
        make_worker: see MakeWorker; no worker is made if everything is done.
        workers: how many, and where; by default one, here.
        label: what the progress line is about.
        interval: seconds between progress lines if stderr is not a terminal.

    Raises:
        BridoError: a worker's own, or that its process died. Finished shards are kept.
        KeyboardInterrupt: as it came, with the number of documents that are kept.
    """
    todo = [(index, unit) for index, unit in enumerate(units) if not shards.done(index)]
    total = sum(map(len, units))
    with Progress(label, total, interval=interval) as progress:
        progress.skip(total - sum(len(unit) for _, unit in todo))
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
            stop.args = (f"{kept:,} of {total:,} documents are kept, run again to go on",)
            raise


def _do(
    workers: Workers,
    make_worker: MakeWorker,
    todo: Sequence[tuple[int, Sized]],
    advance: Advance,
    finish: Callable[[int, Result], None],
) -> None:
    """Do the units with the executors that `workers` names."""
    devices = workers.devices[: len(todo)]
    if workers.ray is not None and todo:
        from brido.work.cluster import cluster_executors

        with cluster_executors(workers, make_worker, len(todo), advance) as executors:
            _side_by_side(executors, todo, finish)
    elif len(devices) > 1:
        kind = LocalExecutor if workers.threads else ProcessExecutor
        _side_by_side([kind(make_worker, device, advance) for device in devices], todo, finish)
    elif devices:
        execute = LocalExecutor(make_worker, devices[0], advance)
        for index, unit in todo:
            finish(index, execute(unit))


def _side_by_side(
    executors: Sequence[Executor],
    todo: Iterable[tuple[int, Sized]],
    finish: Callable[[int, Result], None],
) -> None:
    """Do all units, each with a free executor; `finish` runs in this thread, as results come."""
    free: SimpleQueue[Executor] = SimpleQueue()
    for executor in executors:
        free.put(executor)

    def work(unit: Sized) -> Result:
        executor = free.get()
        try:
            return executor(unit)
        finally:
            free.put(executor)

    units = iter(todo)
    running: dict[Future[Result], int] = {}
    working = len(executors)
    pool = ThreadPoolExecutor(len(executors))
    try:
        while True:
            # As many wait as work, so that no worker waits for a shard to be written.
            for index, unit in islice(units, 2 * working - len(running)):
                running[pool.submit(work, unit)] = index
            # A worker without work makes room: on a cluster, for a lost one to start again.
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
        for executor in executors:
            executor.close()
        pool.shutdown(cancel_futures=True)
