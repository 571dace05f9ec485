"""Ranges of a table's rows: how its work is cut, and how a worker reads its own part."""

from brido.tables import read_range

__all__ = ["cut", "read_range"]


def cut(rows: int, size: int) -> list[range]:
    """The rows 0 to rows - 1 in ranges of `size`, the last one what is left."""
    return [range(first, min(first + size, rows)) for first in range(0, rows, size)]
