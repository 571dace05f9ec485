"""Rows of what a study measured, a dataclass each, kept as CSV."""

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.utils.atomic import write_text

# Means, in four decimals.
_ROUNDED = ("words", "r1", "r2")


class Checked:
    """What a row's digits, one a document, say of its summaries.

    unsupported: 0 where the document supports everything. fluency: 3 for a sentence of the world's
    grammar; empty where it was not measured.
    """

    unsupported: str
    fluency: str

    @property
    def flags(self) -> NDArray[np.float64]:
        """1 for each document whose summary says something unsupported, else 0."""
        return np.array([float(digit != "0") for digit in self.unsupported])

    @property
    def well_formed(self) -> NDArray[np.bool_]:
        """Whether each document's summary is a sentence of the world's grammar."""
        return np.array([digit == "3" for digit in self.fluency], bool)

    @property
    def supported_sentence(self) -> NDArray[np.float64]:
        """1 for each document whose summary is such a sentence and has nothing unsupported."""
        return self.well_formed * (1 - self.flags)


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
