"""What the check foretold of each run, and what was seen: two tables of docs/results.md."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from experiments.cases import CHECKED, GREEDY
from experiments.numbers import gaps, interval
from experiments.plan import BEAMS
from experiments.rows import by_chain, chosen, committed, has, marks
from experiments.tables import Record


def foretells() -> Iterator[Record]:
    """Does the check foretell it?"""
    return _foretold("unsupported")


def foretells_good() -> Iterator[Record]:
    """The same of good summaries."""
    return _foretold("good")


@dataclass(frozen=True)
class Run:
    """What the check said of a run, what was seen, and the numbers behind.

    said and seen: `helps`, `harms`, or `open` if the interval has 0 in it. check: elected - base on
    validation documents; base: its share there; gain: tuned - base on test documents.
    """

    said: str
    seen: str
    check: float
    base: float
    gain: float

    @classmethod
    def of(cls, chain: pd.DataFrame, system: str, decoding: str, mark: str) -> Self:
        """Compare a system with base, decoded in the same way.

        What is elected is elected by the system's own score where that was measured, else by the
        vote.
        """
        before = chosen(chain, "base", decoding, "validation")
        elected = chosen(chain, f"elected by {system}", "", "validation")
        if elected.empty:
            elected = chosen(chain, "elected", "", "validation")
        foretold, after = (
            interval(gaps(own, base, mark))
            for own, base in (
                (elected, before),
                (chosen(chain, system, decoding), chosen(chain, "base", decoding)),
            )
        )
        share = float(np.mean(marks(before, mark)))
        return cls(_sign(foretold, mark), _sign(after, mark), foretold[0], share, after[0])


def _foretold(mark: str) -> Iterator[Record]:
    every: list[Run] = []
    for label, sources in CHECKED.items():
        found = [
            Run.of(chain, system, way, mark)
            for system, *source in sources
            for _, chain in by_chain(committed(*source))
            for way in (GREEDY, BEAMS)
            if has(chosen(chain, system, way), mark)
        ]
        every += found
        yield {"runs": label} | _told(found)
    yield {"runs": "all"} | _told(every)


def _told(runs: Sequence[Run]) -> Record:
    """What was seen after each verdict, and what goes with the gain.

    The latter are rank correlations (Spearman's) of tuned - base on test documents.
    """
    seen = Counter((run.said, run.seen) for run in runs)
    numbers = pd.DataFrame(runs)[["check", "base", "gain"]].rank().corr()["gain"]
    return {
        f"said {said}: helped, open, harmed": ", ".join(
            str(seen[said, after]) for after in ("helps", "open", "harms")
        )
        for said in ("helps", "open", "harms")
    } | {
        "rank correlation with the check's difference, with base's share": (
            f"{numbers['check']:+.2f}, {numbers['base']:+.2f}"
        )
    }


def _sign(found: tuple[float, float, float], mark: str) -> str:
    _, low, high = found
    fewer, more = ("harms", "helps") if mark == "good" else ("helps", "harms")
    return fewer if high < 0 else more if low > 0 else "open"
