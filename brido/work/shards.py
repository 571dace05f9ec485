"""Resumable units of work: a stage killed at any moment goes on where it was.

A stage cuts its input into shards, writes each finished shard to
`.brido/work/STAGE/FINGERPRINT/NNNNNN.parquet` and assembles its output once. The fingerprint covers
the settings and the content of the inputs, so work done under other settings is never picked up;
it is removed when the stage next starts (`brido.work.folder`). BRIDO_WORK moves the folder. What
the next run can use is kept beyond the stage's end (`brido.work.kept`).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import BaseModel

from brido.tables import read_batches, read_metadata, write_table
from brido.tables.fingerprint import content_hash
from brido.work.folder import leave, take, work_root


def fingerprint(settings: Any, inputs: Iterable[Path] = ()) -> str:
    """Return 16 hexadecimal digits that change with the settings or an input's content.

    `settings` is anything JSON can hold, sections of params.yaml included; `inputs` are files or
    folders (all files below them). Runtime settings do not belong in it.
    """
    digest = hashlib.sha256()
    digest.update(json.dumps(settings, sort_keys=True, default=_plain).encode())
    for path in inputs:
        digest.update(content_hash(path).encode())
    return digest.hexdigest()[:16]


def table_keys(settings: Any, inputs: Iterable[Path], count: int) -> list[str]:
    """Keys of a table's `count` shards, which all change with the settings or an input."""
    shared = fingerprint(settings, inputs)
    return [f"{shared}-{number}" for number in range(count)]


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


class Shards:
    """The finished shards of one stage under one fingerprint."""

    def __init__(self, stage: str, key: str, schema: pa.Schema) -> None:
        """Open (or start) the work folder of `stage` and remove the stage's stale ones.

        `stage` may hold a slash where a stage works on several things (`generate/train`).

        Raises:
            BridoError: another process is at work there.
        """
        self.schema = schema
        self.folder = work_root() / stage / key
        take(self.folder)

    def path(self, index: int) -> Path:
        """Return the file of shard `index`, finished or not."""
        return self.folder / f"{index:06d}.parquet"

    def done(self, index: int) -> bool:
        """Whether shard `index` is finished."""
        return self.path(index).is_file()

    def write(
        self,
        index: int,
        rows: pa.RecordBatch | list[dict[str, Any]],
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Write shard `index` atomically, with metadata about it."""
        write_table(self.path(index), [rows], self.schema, metadata)

    def read(self, indices: Iterable[int]) -> Iterator[pa.RecordBatch]:
        """Read the rows of these shards in order. Raise BridoError if one is missing."""
        for index in indices:
            yield from read_batches(self.path(index), self.schema, "")

    def metadata(self, index: int) -> dict[str, Any]:
        """Read the metadata of shard `index`."""
        return read_metadata(self.path(index), "")

    def clear(self) -> None:
        """Remove the work folder: call it when the stage's output is in place."""
        leave(self.folder)
