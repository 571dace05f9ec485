"""The check of the vote (metrics/votes.json) as the page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brido.stats import FEWEST
from brido.vote.verdict_text import beyond, note, percent, verdict_lines


@dataclass(frozen=True)
class Bar:
    """One ranking: its accuracy with the interval (0 to 1), and its numbers as text.

    quarters: the accuracies by quarter of the score gap, smallest gaps first. beyond: the accuracy
    without copying and likelihood. elected, good: of the elected, which are unsupported, and good.
    """

    label: str
    mean: float
    low: float
    high: float
    text: str
    quarters: Sequence[str]
    elected: str
    beyond: str = "–"
    good: str = "–"


@dataclass(frozen=True)
class VoteCheck:
    """The verdict's lines, the election as a table, a bar a ranking, how the check was made."""

    verdict: Sequence[str]
    election: Sequence[Sequence[str]]
    bars: Sequence[Bar]
    note: str

    @property
    def quarters(self) -> list[list[str]]:
        """The accuracies by quarter of the score gap, as a table with its heading."""
        gaps = ["smallest gaps", "second", "third", "largest gaps"]
        rows = [[bar.label, *bar.quarters, bar.beyond, bar.elected, bar.good] for bar in self.bars]
        return [["ranking", *gaps, "beyond", "elected unsupported", "elected good"], *rows]


def vote_check(told: Mapping[str, Any]) -> VoteCheck:
    """The content of metrics/votes.json for the page."""
    # An older version wrote no lines.
    lines = told.get("verdict") or verdict_lines(told)
    return VoteCheck(lines, _election(told), bars(told), note(told))


def _election(told: Mapping[str, Any]) -> list[list[str]]:
    """Shares of summaries with something unsupported: a heading, all documents, equal lengths."""
    if "election" not in told:
        return []
    rows = [["summaries that are", "documents", "elected", "base", "difference"]]
    labels = {
        "all": "unsupported",
        "equal_length": "unsupported, elected and base equally long",
        "good": "good",
    }
    for key, label in labels.items():
        found = told["election"].get(key)
        if found is None:  # of an older version, or not known
            continue
        count = found["elected"]["documents"]
        shares = [_percent(found[who]["mean"], ".1f") for who in ("elected", "base")]
        gap = [_percent(found["difference"][end], "+.1f", "") for end in ("mean", "low", "high")]
        rows.append([label, f"{count:,}", *shares, f"{gap[0]} points [{gap[1]}, {gap[2]}]"])
    return rows


def _percent(value: float | None, form: str, unit: str = " %") -> str:
    return "–" if value is None else f"{100 * value:{form}}{unit}"


def bars(told: Mapping[str, Any]) -> list[Bar]:
    """A bar for each ranking of which there is a pair; no interval for few documents."""
    few = told["documents"] < FEWEST
    found = []
    for item in told["accuracy"].values():
        if item["mean"] is None:
            continue
        mean = item["mean"]
        low, high = (mean, mean) if few else (item["low"], item["high"])
        text = f"{mean:.3f}" if few else f"{mean:.3f} [{low:.3f}, {high:.3f}]"
        quarters = ["–" if value is None else f"{value:.2f}" for value in item["by_gap"].values()]
        elected, good = (percent(item.get(key)) for key in ("elected_unsupported", "elected_good"))
        shown = text, quarters, elected, beyond(item), good
        found.append(Bar(item["label"], mean, low, high, *shown))
    return found
