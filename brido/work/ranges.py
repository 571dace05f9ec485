"""Ranges of a table's rows: how its work is cut, and how a worker reads its own part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from brido.tables import open_table


def cut(rows: int, size: int) -> list[range]:
    """The rows 0 to rows - 1 in ranges of `size`, the last one what is left."""
    return [range(first, min(first + size, rows)) for first in range(0, rows, size)]


def read_range(
    path: Path, schema: pa.Schema, made_by: str, columns: list[str], rows: range
) -> list[tuple[Any, ...]]:
    """Some consecutive rows of a table, each the values of `columns`; reads no other row group.

    Raises:
        BridoError: see `brido.tables.open_table`.
    """
    found: list[tuple[Any, ...]] = []
    with open_table(path, schema, made_by) as file:
        first = 0
        for group in range(file.num_row_groups):
            stop = first + file.metadata.row_group(group).num_rows
            if first < rows.stop and stop > rows.start:
                table = file.read_row_group(group, columns=columns)
                start = max(rows.start - first, 0)
                part = table.slice(start, rows.stop - first - start)
                found += zip(*(part[name].to_pylist() for name in columns), strict=True)
            first = stop
    return found
