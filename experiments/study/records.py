"""What the study measured: a row for each system of each chain, kept as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from experiments import rows


@dataclass(frozen=True)
class Row(rows.Checked):
    """The summaries of one system of one chain.

    unsupported: a digit a document, 1 where the summary says something that the document does not
    support. words: mean length. r1, r2: mean ROUGE F-measures in points. length_penalty: that of
    decoding, None where nothing was decoded for this row (elected candidates, references). params:
    which settings it was measured under (`plan.settings_of`). fluency: a digit a document, 3 where
    the summary is a sentence of the world's grammar; empty where it was not measured.
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
    fluency: str = ""

    @property
    def place(self) -> tuple[float, float]:
        """Where its chain stands in the plane."""
        return self.stock_phrases, self.support_rate

    @property
    def chain(self) -> tuple[float, float, int, str]:
        """`Chain.key` of the chain that it is of."""
        return (*self.place, self.seed, self.processor)


write_rows = partial(rows.write_rows, Row)
read_rows = partial(rows.read_rows, Row)


def find(found: Sequence[Row], chain: tuple, system: str, split: str = "test") -> Row | None:
    """The row of a chain's system, None where there is none."""
    for row in found:
        if (row.chain, row.system, row.split) == (chain, system, split):
            return row
    return None
