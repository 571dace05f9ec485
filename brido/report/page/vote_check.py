"""The check of the vote (metrics/votes.json) as the page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brido.stats import FEWEST
from brido.vote.verdict_text import beyond, legend, percent


@dataclass(frozen=True)
class Bar:
    """One ranking: its accuracy with the interval (0 to 1), and both as text."""

    label: str
    mean: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class VoteCheck:
    """The verdict's lines, the election and the rankings as tables, a bar a ranking, a note."""

    verdict: Sequence[str]
    election: Sequence[Sequence[str]]
    bars: Sequence[Bar]
    rankings: Sequence[Sequence[str]]
    note: str


def vote_check(told: Mapping[str, Any]) -> VoteCheck:
    """The content of metrics/votes.json for the page: of each ranking of which there is a pair."""
    items = [item for item in told["accuracy"].values() if item["mean"] is not None]
    rankings = [["ranking", "beyond", "elected unsupported", "elected good"]]
    for item in items:
        unsupported, good = (percent(item.get(f"elected_{key}")) for key in ("unsupported", "good"))
        rankings.append([item["label"], beyond(item), unsupported, good])
    bars = [_bar(item, told["documents"] < FEWEST) for item in items]
    return VoteCheck(told["verdict"], _election(told), bars, rankings, " ".join(legend(told)))


def _bar(item: Mapping[str, Any], few: bool) -> Bar:
    mean = item["mean"]
    low, high = (mean, mean) if few else (item["low"], item["high"])
    text = f"{mean:.3f}" if few else f"{mean:.3f} [{low:.3f}, {high:.3f}]"
    return Bar(item["label"], mean, low, high, text)


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
        if found is None:  # it is not known which texts are good
            continue
        count = found["elected"]["documents"]
        shares = [_percent(found[who]["mean"], ".1f") for who in ("elected", "base")]
        gap = [_percent(found["difference"][end], "+.1f", "") for end in ("mean", "low", "high")]
        rows.append([label, f"{count:,}", *shares, f"{gap[0]} points [{gap[1]}, {gap[2]}]"])
    return rows


def _percent(value: float | None, form: str, unit: str = " %") -> str:
    return "–" if value is None else f"{100 * value:{form}}{unit}"
