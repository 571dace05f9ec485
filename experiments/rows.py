"""Rows of what a study measured, a dataclass each, kept as CSV."""

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.atomic import write_text

# Means, in four decimals.
_ROUNDED = ("words", "r1", "r2")


def well_formed(fluency: str) -> NDArray[np.bool_]:
    """Whether each summary is a sentence of the world's grammar; fluency: a digit each, 3 if so."""
    return np.array([digit == "3" for digit in fluency], bool)


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
    """The rows of a file that `write_rows` wrote; fields are str, int, float, or float | None.

    A column that an older file lacks is empty.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        named = [(field.name, field.type) for field in fields(kind)]
        return [
            kind(**{name: _value(wanted, row.get(name, "")) for name, wanted in named})
            for row in csv.DictReader(stream)
        ]


def _value(kind: Any, text: str) -> Any:
    if kind in (str, int, float):
        return kind(text)
    return float(text) if text else None
