"""A stage's table for each split, made in one run, so that a worker is made once for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

import pyarrow as pa

from brido.tables import write_table
from brido.work.running import run
from brido.work.shards import Shards
from brido.work.worker import MakeWorker
from brido.work.workers import Workers


class Splits:
    """The shards of all splits of a stage, one after the other.

    >>> work = Splits("generate", fingerprint(settings, inputs), CANDIDATES, {"train": units})
    >>> work.run(make_worker, workers, "generate", 10.0)
    >>> work.write("train", Path("train.parquet"), {"documents": work.totals("train")["rows"]})
    >>> work.clear()
    """

    def __init__(
        self, stage: str, key: str, schema: pa.Schema, units: Mapping[str, Sequence[Sized]]
    ) -> None:
        """Open (or start) the stage's work folder; `units` of each split as in `run`."""
        self._shards = Shards(stage, key, schema)
        self._units = [unit for split in units.values() for unit in split]
        self._numbers: dict[str, range] = {}
        first = 0
        for split, own in units.items():
            self._numbers[split] = range(first, first + len(own))
            first += len(own)

    def run(self, make_worker: MakeWorker, workers: Workers, label: str, interval: float) -> None:
        """Finish every shard of every split (see `brido.work.run`)."""
        run(self._shards, self._units, make_worker, workers, label, interval)

    def totals(self, split: str) -> Counter[str]:
        """What the workers counted, summed over the split."""
        return self._shards.totals(self._numbers[split])

    def write(self, split: str, path: Path, metadata: dict[str, Any]) -> None:
        """Put the split's table together at `path`."""
        rows = self._shards.read(self._numbers[split])
        write_table(path, rows, self._shards.schema, metadata)

    def clear(self) -> None:
        """Remove the work folder: call it when all tables are written."""
        self._shards.clear()
