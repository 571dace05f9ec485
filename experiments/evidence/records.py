"""What the evidence measured: a row for each system of each chain, kept as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brido.atomic import write_text


@dataclass(frozen=True)
class Row:
    """The summaries of one system of one chain.

    unsupported: a digit a document, the number of mentions that the document does not support (9:
    nine or more). words: mean length. r1, r2: mean ROUGE F-measures in points. decoding: a name of
    plan.yaml, with " at base's length" where it was fitted, empty where nothing was decoded. A
    row without any document says that no length penalty gets to that length.
    params: which settings it was measured under.
    """

    setting: str
    seed: int
    params: str
    system: str
    decoding: str
    split: str
    length_penalty: float | None
    words: float
    r1: float
    r2: float
    unsupported: str

    @property
    def counts(self) -> NDArray[np.float64]:
        """The number of unsupported mentions of each document's summary."""
        return np.array([float(digit) for digit in self.unsupported])

    @property
    def flags(self) -> NDArray[np.float64]:
        """1 for each document whose summary says something unsupported, else 0."""
        return (self.counts > 0).astype(np.float64)

    @property
    def key(self) -> tuple[str, int, str, str, str]:
        """What tells it from the other rows of its settings."""
        return self.setting, self.seed, self.system, self.decoding, self.split


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as CSV with a header."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        values = asdict(row)
        rounded = {name: round(values[name], 4) for name in ("words", "r1", "r2")}
        writer.writerow(values | rounded)
    write_text(path, stream.getvalue())


def read_rows(path: Path) -> list[Row]:
    """The rows of a file that `write_rows` wrote."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [_row(values) for values in csv.DictReader(stream)]


def _row(values: dict[str, str]) -> Row:
    penalty = values["length_penalty"]
    return Row(
        values["setting"],
        int(values["seed"]),
        *(values[name] for name in ("params", "system", "decoding", "split")),
        float(penalty) if penalty else None,
        *(float(values[name]) for name in ("words", "r1", "r2")),
        values["unsupported"],
    )


def find(rows: Sequence[Row], key: tuple[str, int, str, str, str]) -> Row | None:
    """The row with this key, None where there is none."""
    return next((row for row in rows if row.key == key), None)
