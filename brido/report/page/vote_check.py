"""The check of the orders (metrics/votes.json) as the page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brido.stats import FEWEST
from brido.vote.votes_text import HEADINGS, interval, legend, table_rows


@dataclass(frozen=True)
class Bar:
    """What is left of an order: its accuracy with the interval (0 to 1), and both as text."""

    label: str
    mean: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class VoteCheck:
    """The check's sentences, a bar an order, the table of orders, and what its columns mean."""

    lines: Sequence[str]
    bars: Sequence[Bar]
    orders: Sequence[Sequence[str]]
    note: str


def vote_check(check: Mapping[str, Any]) -> VoteCheck:
    """The content of metrics/votes.json for the page."""
    rows = [*check["orders"].values(), *check["fixed"].values()]
    documents = check["documents"]
    bars = [_bar(row, documents) for row in rows if row["left"] and row["left"]["mean"] is not None]
    return VoteCheck(
        check["lines"], bars, [list(HEADINGS), *table_rows(check)], " ".join(legend(check))
    )


def _bar(row: Mapping[str, Any], documents: int) -> Bar:
    left = row["left"]
    low, high = (left["mean"] if documents < FEWEST else left[end] for end in ("low", "high"))
    return Bar(row["label"], left["mean"], low, high, interval(left, documents))
