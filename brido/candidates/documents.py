"""The documents of one split, checked once and read shard by shard."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from brido.errors import BridoError
from brido.tables import CORPUS, open_table, read_batches

# What an empty document leads to: an error, no row, or a row with an empty text.
EmptyDocuments = Literal["refuse", "leave_out", "keep"]


class Sources:
    """The first `limit` documents of a corpus table (None: all), in shards of `shard_documents`.

    left_out holds the ids of empty documents where these are left out.

    Raises:
        BridoError: an id occurs twice, or a document is empty where that is refused (all named).
    """

    def __init__(
        self, path: Path, limit: int | None, shard_documents: int, empty: EmptyDocuments, key: str
    ) -> None:
        self.path, self.shard_documents, self.empty = path, shard_documents, empty
        self.ids: list[str] = []
        empty_ids = []
        for batch in read_batches(path, CORPUS, "download", ["id", "document"]):
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            for name, document in rows:
                if limit is not None and len(self.ids) == limit:
                    break
                self.ids.append(name)
                if not document.strip():
                    empty_ids.append(name)
        self._check(empty_ids, key)
        self.left_out = empty_ids if empty == "leave_out" else []
        self._group: tuple[int, pa.Table] | None = None

    def _check(self, empty_ids: list[str], key: str) -> None:
        problems = []
        repeated = [name for name, times in Counter(self.ids).items() if times > 1]
        if repeated:
            problems.append(f"{len(repeated)} ids occur more than once: {_some(repeated)}")
        if empty_ids and self.empty == "refuse":
            problems.append(
                f"{len(empty_ids)} documents are empty: {_some(empty_ids)}; correct them, or set "
                f"{key} to leave_out"
            )
        if problems:
            raise BridoError.from_problems(f"{self.path} cannot be used:", problems)

    @property
    def shard_sizes(self) -> list[int]:
        """The number of rows of each shard (empty documents included)."""
        size = self.shard_documents
        return [min(size, len(self.ids) - start) for start in range(0, len(self.ids), size)]

    def shard(self, index: int) -> list[tuple[str, str]]:
        """Id and document of each row of a shard, without those that are left out."""
        start = index * self.shard_documents
        stop = min(start + self.shard_documents, len(self.ids))
        rows = self._rows(start, stop)
        if self.empty == "leave_out":
            rows = [(name, document) for name, document in rows if document.strip()]
        return rows

    def _rows(self, start: int, stop: int) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        with open_table(self.path, CORPUS, "download") as file:
            first = 0
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if first < stop and first + rows > start:
                    table = self._read(file, group)
                    part = table.slice(max(start - first, 0), stop - max(start, first))
                    found += zip(*(column.to_pylist() for column in part.columns), strict=True)
                first += rows
        return found

    def _read(self, file: Any, group: int) -> pa.Table:
        """A row group; the last one is kept, since shards follow one another."""
        if self._group is None or self._group[0] != group:
            self._group = (group, file.read_row_group(group, columns=["id", "document"]))
        return self._group[1]


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
