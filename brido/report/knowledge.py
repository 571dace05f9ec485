"""What the vote knows (metrics/votes.json) as a terminal and the page show it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from brido.report.text_table import aligned
from brido.stats import FEWEST
from brido.utils.errors import BridoError

# The page's picture: a row a ranking, accuracies from 0 to 1 across WIDTH units.
WIDTH, ROW = 240.0, 22.0


@dataclass(frozen=True)
class Bar:
    """One ranking's bar: its label, where it lies, its interval, and its numbers in words.

    `quarters` are the accuracies by quarter of the score gap as text, smallest gaps first.
    """

    label: str
    y: float
    length: float
    low: float
    high: float
    told: str
    quarters: Sequence[str]
    elected: str


@dataclass(frozen=True)
class Knowledge:
    """The check in plain words, the election's numbers as a table, the bars, how it was made."""

    plain: Sequence[str]
    election: Sequence[Sequence[str]]
    bars: Sequence[Bar]
    note: str

    @property
    def quarters(self) -> list[list[str]]:
        """The accuracies by quarter of the score gap, as a table with its heading."""
        gaps = ["smallest gaps", "second", "third", "largest gaps"]
        rows = [[bar.label, *bar.quarters, bar.elected] for bar in self.bars]
        return [["ranking", *gaps, "elected unsupported"], *rows]

    @property
    def height(self) -> float:
        """The height of the picture."""
        return ROW * len(self.bars)


def read_votes(path: Path) -> dict[str, Any]:
    """The content of metrics/votes.json; BridoError where it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BridoError(f"{path} is missing: make it with `dvc repro score`") from None
    except json.JSONDecodeError as error:
        raise BridoError(f"{path} is damaged ({error}): `dvc repro -f score`") from None


def sentences(told: Mapping[str, Any]) -> list[str]:
    """Will tuning help, and does the vote know more than what is there anyway?"""
    return [told[part]["sentence"] for part in ("election", "knows") if part in told]


_FINDINGS = {
    "beats": ("Electing helps: ", "Tuning on this vote should help."),
    "loses": (
        "Electing does harm: ",
        "At equal length, tuning on this vote would make nothing better and may do harm.",
    ),
    "few": ("Too few documents to tell: ", "Nothing can be said of tuning on this vote."),
    "nothing": ("Nothing was found to judge by: ", "Nothing can be said of tuning on this vote."),
    "chance": ("Drawn at random, the control: ", "What tuning on it gains is not the vote's."),
    "open": ("Electing is not shown to help: ", "Tuning on this vote may help or do harm."),
}


def plain(told: Mapping[str, Any]) -> list[str]:
    """The same in plain words, two numbers a sentence at most."""
    said = []
    if election := told.get("election"):
        begin, advice = _FINDINGS[election["verdict"]]
        elected, own = (100 * election["all"][who]["mean"] for who in ("elected", "base"))
        said += [
            f"{begin}{elected:.0f} % of the elected candidates say something that the article does "
            f"not support, against {own:.0f} % of what base writes by itself.",
            f"{advice} {election['caution']}".rstrip(),
        ]
    vote = told["accuracy"].get("vote", {})
    if vote.get("pairs", 0) >= FEWEST:
        said.append(
            "Of two candidates that are about equally long the vote prefers the better one "
            f"{100 * vote['mean']:.0f} times in 100; 50 would be chance."
        )
    elif vote:
        said.append(
            "Pairs of candidates that are about equally long and not equally good are too few to "
            f"say more ({vote.get('pairs', 0)})."
        )
    return said


def _election_rows(told: Mapping[str, Any]) -> list[list[str]]:
    """Shares of summaries with something unsupported: a heading, all documents, equal lengths."""
    if "election" not in told:
        return []
    rows = [["unsupported in", "documents", "elected", "base", "difference"]]
    for key, label in (("all", "all"), ("equal_length", "elected and base equally long")):
        found = told["election"][key]
        count = found["elected"]["documents"]
        shares = [_percent(found[who]["mean"]) for who in ("elected", "base")]
        gap, low, high = (_hundreds(found["difference"][end]) for end in ("mean", "low", "high"))
        rows.append([label, f"{count:,}", *shares, f"{gap} points [{low}, {high}]"])
    return rows


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _hundreds(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.1f}"


def note(told: Mapping[str, Any]) -> str:
    """How the check was made."""
    tolerance = told["length_tolerance"]
    length = f"lengths within {100 * tolerance:g} %" if tolerance else "as many words"
    return (
        f"{told['documents']:,} documents; judge: {told['judge']}; pairs of candidates "
        f"of one document, {length}, one with more that is unsupported."
    )


def votes_text(told: Mapping[str, Any]) -> str:
    """The check as plain text: a row a ranking, then the sentences."""
    rows = [["first of two equally long", "", "", "elected unsupported"]]
    for bar in bars(told):
        rows.append([bar.label, *bar.told.split(" ", 1), bar.elected])
    said = (fill(sentence, 100) for sentence in [note(told), *sentences(told)])
    return "\n".join([aligned(rows), *said])


def bars(told: Mapping[str, Any]) -> list[Bar]:
    """A bar for each ranking of which there is a pair."""
    found = []
    for item in told["accuracy"].values():
        if item["mean"] is None:
            continue
        mean, low, high = (item[key] for key in ("mean", "low", "high"))
        quarters = ["–" if value is None else f"{value:.2f}" for value in item["by_gap"].values()]
        found.append(
            Bar(
                item["label"],
                ROW * len(found),
                round(WIDTH * mean, 1),
                round(WIDTH * low, 1),
                round(WIDTH * high, 1),
                f"{mean:.3f} [{low:.3f}, {high:.3f}]",
                quarters,
                f"{100 * item['elected_unsupported']:.1f} %",
            )
        )
    return found


def knowledge(told: Mapping[str, Any]) -> Knowledge:
    """The content of metrics/votes.json for the page."""
    return Knowledge(plain(told), _election_rows(told), bars(told), note(told))
