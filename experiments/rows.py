"""What a study measured: a row for each system of each chain, kept as CSV beside its settings."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.utils.atomic import write_text

# Means, written with four decimals.
_ROUNDED = ("words", "r1", "r2")


@dataclass(frozen=True)
class Row:
    """The summaries of one system of one chain.

    setting, seed: the chain. decoding: a name of the plan's decodings, followed by the length that
    was aimed at where there was one; empty for references and elected candidates. length_penalty:
    None where nothing was decoded. words: mean length. r1, r2: mean ROUGE F-measures in points.
    unsupported: a digit for each document, the number of mentions that the document does not
    support (9: nine or more; the world's plans have 1: one or more); empty if no length penalty
    reaches the length. fluency: a digit for each document, 3 if the summary is a sentence of the
    world's grammar; empty on other corpora.
    """

    setting: str
    seed: int
    system: str
    decoding: str
    split: str
    length_penalty: float | None
    words: float
    r1: float
    r2: float
    unsupported: str
    fluency: str = ""

    @property
    def counts(self) -> NDArray[np.float64]:
        """The number of unsupported mentions of each document's summary."""
        return np.array([float(digit) for digit in self.unsupported])

    @property
    def flags(self) -> NDArray[np.float64]:
        """1 for each document whose summary has something unsupported, else 0."""
        return (self.counts > 0).astype(float)

    @property
    def well_formed(self) -> NDArray[np.bool_]:
        """Whether each document's summary is a sentence of the world's grammar."""
        return np.array([digit == "3" for digit in self.fluency], bool)

    @property
    def good(self) -> NDArray[np.float64]:
        """1 for each document whose summary is such a sentence with nothing unsupported, else 0."""
        return self.well_formed * (1 - self.flags)

    @property
    def fitted(self) -> bool:
        """Whether it was decoded at, or cut to, the length of another system's summaries."""
        return " at " in self.decoding or " cut to " in self.decoding

    @property
    def key(self) -> tuple[str, int, str, str, str]:
        """What identifies the row in its table."""
        return self.setting, self.seed, self.system, self.decoding, self.split


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as CSV with a header; None is empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        values = asdict(row)
        writer.writerow(values | {name: round(values[name], 4) for name in _ROUNDED})
    write_text(path, stream.getvalue())


def read_rows(path: Path) -> list[Row]:
    """The rows that `write_rows` wrote; an empty list if there is no such file."""
    if not path.is_file():
        return []
    named = [(field.name, field.type) for field in fields(Row)]
    with path.open(encoding="utf-8", newline="") as stream:
        return [
            Row(**{name: _value(kind, row[name]) for name, kind in named})
            for row in csv.DictReader(stream)
        ]


def _value(kind: Any, text: str) -> Any:
    if kind in (str, int, float):
        return kind(text)
    return float(text) if text else None


def find(rows: Sequence[Row], key: tuple[str, int, str, str, str]) -> Row | None:
    """The row with this key, None if there is none."""
    return next((row for row in rows if row.key == key), None)


def write_settings(path: Path, settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Write which values of params.yaml each setting was measured under.

    settings: setting -> dotted key -> value. Keys that all settings share are written once.
    """
    first = next(iter(settings.values()), {})
    shared = {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in settings.values())
    }
    own = {
        name: {key: value for key, value in values.items() if key not in shared}
        for name, values in settings.items()
    }
    write_text(path, json.dumps({"all": shared, "settings": own}, indent=1) + "\n")


def read_settings(path: Path) -> dict[str, dict[str, Any]]:
    """What `write_settings` wrote; empty if there is no such file."""
    if not path.is_file():
        return {}
    kept = json.loads(path.read_text(encoding="utf-8"))
    return {name: kept["all"] | own for name, own in kept["settings"].items()}
