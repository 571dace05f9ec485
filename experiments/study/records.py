"""What the study measured: a row for each system of each chain, kept as CSV."""

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

    unsupported: a digit a document, 1 where the summary says something that the document does not
    support. words: mean length. r1, r2: mean ROUGE F-measures in points. length_penalty: that of
    decoding, None where nothing was decoded for this row (elected candidates, references). params:
    which settings it was measured under (`plan.settings_of`).
    """

    stock_phrases: float
    support_rate: float
    seed: int
    processor: str
    params: str
    system: str
    split: str
    length_penalty: float | None
    words: float
    r1: float
    r2: float
    unsupported: str

    @property
    def flags(self) -> NDArray[np.float64]:
        """1 for each document whose summary says something unsupported, else 0."""
        return np.array([float(digit) for digit in self.unsupported])

    @property
    def place(self) -> tuple[float, float]:
        """Where its chain stands in the plane."""
        return self.stock_phrases, self.support_rate

    @property
    def chain(self) -> tuple[float, float, int, str]:
        """`Chain.key` of the chain that it is of."""
        return (*self.place, self.seed, self.processor)


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
        float(values["stock_phrases"]),
        float(values["support_rate"]),
        int(values["seed"]),
        *(values[name] for name in ("processor", "params", "system", "split")),
        float(penalty) if penalty else None,
        *(float(values[name]) for name in ("words", "r1", "r2")),
        values["unsupported"],
    )


def find(rows: Sequence[Row], chain: tuple, system: str, split: str = "test") -> Row | None:
    """The row of a chain's system, None where there is none."""
    for row in rows:
        if (row.chain, row.system, row.split) == (chain, system, split):
            return row
    return None
