"""Rows of what a study measured, a dataclass each, kept as CSV."""

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from brido.atomic import write_text

# Means, in four decimals.
_ROUNDED = ("words", "r1", "r2")


def write_rows(kind: type, path: Path, rows: Iterable[Any]) -> None:
    """Write rows of the dataclass `kind` as CSV with a header; a None is empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [field.name for field in fields(kind)], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        values = asdict(row)
        writer.writerow(values | {name: round(values[name], 4) for name in _ROUNDED})
    write_text(path, stream.getvalue())


def read_rows(kind: type, path: Path) -> list[Any]:
    """The rows of a file that `write_rows` wrote; fields are str, int, float, or float | None."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [
            kind(**{field.name: _value(field.type, row[field.name]) for field in fields(kind)})
            for row in csv.DictReader(stream)
        ]


def _value(kind: Any, text: str) -> Any:
    if kind in (str, int, float):
        return kind(text)
    return float(text) if text else None
