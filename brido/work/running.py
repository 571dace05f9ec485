"""Units of work to workers: one in this process, or a pool of processes side by side.

A worker does one unit at a time and writes nothing: the driver alone writes shards. A shard's rows
do not depend on the worker, so a stage ends in the same bytes with any number of workers. Only a
few units are in work at once, so memory stays constant.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from brido.tables import write_table
from brido.utils.errors import BridoError
from brido.utils.progress import Progress
from brido.work.shards import Kept, Shards
from brido.work.worker import (
    RUN_AGAIN,
    Advance,
    MakeWorker,
    ProcessPool,
    Result,
    Workers,
    executor,
    unheard,
)

if TYPE_CHECKING:
    from brido.work.cluster import RayPool

HERE = Workers()
# The most workers on a cluster for units whose number is not known.
_ACTORS = 1024


def run(
    shards: Shards,
    units: Sequence[Sized],
    make_worker: MakeWorker,
    workers: Workers = HERE,
    label: str = "",
    interval: float = 10.0,
) -> None:
    """Finish every shard that is not done: shard i holds the rows of unit i.

    shards: where finished shards go; what is finished there is not done again.
    units: picklable descriptions of the work, small (which rows of which file, not their texts);
    len() of a unit is its number of documents.
    make_worker: see MakeWorker; no worker is made if everything is done.
    label, interval: of the progress line, and seconds between two if stderr is not a terminal.

    Raises:
        BridoError: a worker's own, or that its process died. Finished shards are kept.
        KeyboardInterrupt: as it came, with the number of documents that are kept.
    """
    todo = [(index, unit) for index, unit in enumerate(units) if not shards.done(index)]
    total = sum(map(len, units))
    with Progress(label, total, interval=interval) as progress:
        progress.skip(total - sum(len(unit) for _, unit in todo))
        try:
            _do(workers, make_worker, todo, progress.advance, shards.write)
        except KeyboardInterrupt as stop:
            kept = sum(len(unit) for index, unit in enumerate(units) if shards.done(index))
            stop.args = (f"{kept:,} of {total:,} documents are kept, run again to go on",)
            raise


def run_stream(
    units: Iterable[Sized],
    make_worker: MakeWorker,
    workers: Workers,
    finish: Callable[..., None],
    advance: Advance = unheard,
) -> None:
    """Do units as they come, and hand each one's rows and counts to `finish` in their order.

    Units are read when workers want them, so their number need not be known: at most two a worker
    are under way, and results wait only for the units before them. `finish(rows, counts)` runs in
    this thread. advance: see `worker.Advance`.

    Raises:
        BridoError: a worker's own, or that its process died. What was handed over stays so.
    """
    waiting: dict[int, Result] = {}
    handed_over = 0

    def hand_over(index: int, *result: Any) -> None:
        nonlocal handed_over
        waiting[index] = (result[0], result[1])
        while handed_over in waiting:
            finish(*waiting.pop(handed_over))
            handed_over += 1

    _do(workers, make_worker, enumerate(units), advance, hand_over)


def _do(
    workers: Workers,
    make_worker: MakeWorker,
    todo: Iterable[tuple[int, Sized]],
    advance: Advance,
    finish: Callable[..., None],
) -> None:
    """Do numbered units on as many workers as there are, or as there are units if that is known."""
    limit = len(todo) if isinstance(todo, Sequence) else max(len(workers.devices), _ACTORS)
    devices = workers.devices[:limit]
    if workers.ray is not None and limit:
        from brido.work.cluster import cluster_pool

        with cluster_pool(workers, make_worker, limit) as pool:
            _side_by_side(pool, todo, advance, finish)
    elif len(devices) > 1:
        with ProcessPool(make_worker, devices) as pool:
            _side_by_side(pool, todo, advance, finish)
    elif devices:
        execute = executor(make_worker, devices[0], advance)
        for index, unit in todo:
            finish(index, *execute(unit))


def _side_by_side(
    pool: "ProcessPool | RayPool",
    todo: Iterable[tuple[int, Sized]],
    advance: Advance,
    finish: Callable[..., None],
) -> None:
    """Do all units; `finish` runs in this thread, as results come."""
    units = iter(todo)
    running: dict[Future[Result], tuple[int, Sized]] = {}
    working, release = pool.size, getattr(pool, "release", None)
    try:
        while True:
            # As many wait as work, so that no worker waits for a shard to be written.
            for index, unit in islice(units, 2 * working - len(running)):
                running[pool.submit(unit)] = index, unit
            if len(running) < working and release:
                release(working - len(running))
                working = len(running)
            if not running:
                return
            done = wait(running, return_when=FIRST_COMPLETED).done
            # Errors last: what is finished beside them is kept.
            for future in sorted(done, key=lambda future: future.exception() is not None):
                index, unit = running.pop(future)
                result = future.result()
                advance(len(unit))
                finish(index, *result)
    except BrokenProcessPool:
        raise BridoError(
            f"a worker process ended before its work: memory ran out, or it was killed; {RUN_AGAIN}"
        ) from None


class Splits:
    """The shards of all splits of a stage, one after the other.

    >>> work = Splits("generate", fingerprint(settings, inputs), CANDIDATES, {"train": units})
    >>> work.run(make_worker, workers, "generate", 10.0)
    >>> work.write("train", Path("train.parquet"), {"documents": work.totals("train")["rows"]})
    >>> work.clear()
    """

    def __init__(
        self,
        stage: str,
        key: str,
        schema: pa.Schema,
        units: Mapping[str, Sequence[Sized]],
        keys: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Open (or start) the stage's work folder; `units` of each split as in `run`.

        keys: of each unit, which cover all that decides its shard, `code_key` included. With keys
        the shards are kept for the stage's next run, and those of its last one are taken over.
        """
        self._shards = Shards(stage, key, schema)
        self._units: list[Sized] = []
        self._numbers: dict[str, range] = {}
        for split, own in units.items():
            first = len(self._units)
            self._units += own
            self._numbers[split] = range(first, len(self._units))
        self._kept = Kept(stage)
        self._keys = [key for split in units for key in keys[split]] if keys else []
        for index, own_key in enumerate(self._keys):
            if not self._shards.done(index):
                self._kept.take_over(own_key, self._shards.path(index))

    def run(self, make_worker: MakeWorker, workers: Workers, label: str, interval: float) -> None:
        """Finish every shard of every split (see `run`)."""
        run(self._shards, self._units, make_worker, workers, label, interval)

    def totals(self, split: str) -> Counter[str]:
        """What the workers counted, summed over the split; what none of them counted is 0."""
        return sum((Counter(said) for said in self.said(split)), Counter())

    def said(self, split: str) -> list[dict[str, Any]]:
        """What the workers said of each unit of the split."""
        return [self._shards.metadata(number) for number in self._numbers[split]]

    def read(self, split: str) -> Iterator[pa.RecordBatch]:
        """Return the rows of the split, in order."""
        return self._shards.read(self._numbers[split])

    def write(self, split: str, path: Path, metadata: dict[str, Any]) -> None:
        """Put the split's table together at `path`."""
        write_table(path, self.read(split), self._shards.schema, metadata)

    def clear(self) -> None:
        """Remove the work folder, or keep its shards: call it when all tables are written."""
        if self._keys:
            self._kept.keep((key, self._shards.path(n)) for n, key in enumerate(self._keys))
        self._shards.clear()
