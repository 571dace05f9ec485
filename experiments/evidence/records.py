"""What the evidence measured: a row for each system of each chain, kept as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from experiments import rows


@dataclass(frozen=True)
class Row(rows.Checked):
    """The summaries of one system of one chain.

    unsupported: a digit a document, the number of mentions that the document does not support (9:
    nine or more). words: mean length. r1, r2: mean ROUGE F-measures in points. decoding: a name of
    plan.yaml, with " at base's length" where it was fitted, empty where nothing was decoded. A
    row without any document says that no length penalty gets to that length.
    params: which settings it was measured under. fluency: a digit a document, 3 where the summary
    is a sentence of the world's grammar; empty on other corpora.
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
    fluency: str = ""

    @property
    def counts(self) -> NDArray[np.float64]:
        """The number of unsupported mentions of each document's summary."""
        return np.array([float(digit) for digit in self.unsupported])

    @property
    def fitted(self) -> bool:
        """Whether it was decoded at, or cut to, the length of another system's summaries."""
        return " at " in self.decoding or " cut to " in self.decoding

    @property
    def key(self) -> tuple[str, int, str, str, str]:
        """What tells it from the other rows of its settings."""
        return self.setting, self.seed, self.system, self.decoding, self.split


write_rows = partial(rows.write_rows, Row)
read_rows = partial(rows.read_rows, Row)


def find(found: Sequence[Row], key: tuple[str, int, str, str, str]) -> Row | None:
    """The row with this key, None where there is none."""
    return next((row for row in found if row.key == key), None)
