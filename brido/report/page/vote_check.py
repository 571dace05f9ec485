"""The check of the vote (metrics/votes.json) as the page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brido.stats import FEWEST
from brido.vote.verdict_text import note


@dataclass(frozen=True)
class Bar:
    """One ranking: its accuracy with the interval (0 to 1), and its numbers as text.

    quarters: the accuracies by quarter of the score gap, smallest gaps first.
    """

    label: str
    mean: float
    low: float
    high: float
    quarters: Sequence[str]
    elected: str

    @property
    def text(self) -> str:
        """The accuracy with its interval."""
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class VoteCheck:
    """The check in plain words, the election as a table, a bar a ranking, how it was made."""

    sentences: Sequence[str]
    election: Sequence[Sequence[str]]
    bars: Sequence[Bar]
    note: str

    @property
    def quarters(self) -> list[list[str]]:
        """The accuracies by quarter of the score gap, as a table with its heading."""
        gaps = ["smallest gaps", "second", "third", "largest gaps"]
        rows = [[bar.label, *bar.quarters, bar.elected] for bar in self.bars]
        return [["ranking", *gaps, "elected unsupported"], *rows]


# Of each verdict on the election: how its sentence begins, and what follows for tuning.
_VERDICTS = {
    "beats": ("Electing helps: ", "Tuning on this vote should help."),
    "loses": (
        "Electing does harm: ",
        "At equal length, tuning on this vote would make nothing better and may do harm.",
    ),
    "few": ("Too few documents to tell: ", "Nothing can be said of tuning on this vote."),
    "nothing": ("Nothing was found to judge by: ", "Nothing can be said of tuning on this vote."),
    "chance": (
        "This is the control, the same scores shuffled within each document: ",
        "What tuning on it gains does not come from the vote.",
    ),
    "open": ("Electing is not shown to help: ", "Tuning on this vote may help or do harm."),
}


def vote_check(told: Mapping[str, Any]) -> VoteCheck:
    """The content of metrics/votes.json for the page."""
    return VoteCheck(_sentences(told), _election(told), bars(told), note(told))


def _sentences(told: Mapping[str, Any]) -> list[str]:
    """The check in plain words, two numbers a sentence at most."""
    found = []
    if election := told.get("election"):
        begin, advice = _VERDICTS[election["verdict"]]
        elected, own = (100 * election["all"][who]["mean"] for who in ("elected", "base"))
        found += [
            f"{begin}{elected:.0f} % of the elected candidates say something that the article does "
            f"not support, against {own:.0f} % of what base writes by itself.",
            f"{advice} {election['caution']}".rstrip(),
        ]
    vote = told["accuracy"].get("vote", {})
    if vote.get("pairs", 0) >= FEWEST:
        found.append(
            "Of two candidates that are about equally long the vote prefers the better one "
            f"{100 * vote['mean']:.0f} times in 100; 50 would be chance."
        )
    elif vote:
        found.append(
            "Too few pairs of candidates are about equally long and not equally good to say more "
            f"({vote.get('pairs', 0)})."
        )
    return found


def _election(told: Mapping[str, Any]) -> list[list[str]]:
    """Shares of summaries with something unsupported: a heading, all documents, equal lengths."""
    if "election" not in told:
        return []
    rows = [["unsupported in", "documents", "elected", "base", "difference"]]
    for key, label in (("all", "all"), ("equal_length", "elected and base equally long")):
        found = told["election"][key]
        count = found["elected"]["documents"]
        shares = [_percent(found[who]["mean"], ".1f") for who in ("elected", "base")]
        gap = [_percent(found["difference"][end], "+.1f", "") for end in ("mean", "low", "high")]
        rows.append([label, f"{count:,}", *shares, f"{gap[0]} points [{gap[1]}, {gap[2]}]"])
    return rows


def _percent(value: float | None, form: str, unit: str = " %") -> str:
    return "–" if value is None else f"{100 * value:{form}}{unit}"


def bars(told: Mapping[str, Any]) -> list[Bar]:
    """A bar for each ranking of which there is a pair."""
    return [
        Bar(
            item["label"],
            item["mean"],
            item["low"],
            item["high"],
            ["–" if value is None else f"{value:.2f}" for value in item["by_gap"].values()],
            _percent(item["elected_unsupported"], ".1f"),
        )
        for item in told["accuracy"].values()
        if item["mean"] is not None
    ]
