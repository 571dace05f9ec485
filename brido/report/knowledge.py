"""What the vote knows (metrics/votes.json) as a terminal and the page show it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.errors import BridoError

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
    """The sentences, the bars, and a note on how the check was made."""

    sentences: Sequence[str]
    bars: Sequence[Bar]
    note: str

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


def note(told: Mapping[str, Any]) -> str:
    """How the check was made."""
    tolerance = told["length_tolerance"]
    length = f"lengths within {100 * tolerance:g} %" if tolerance else "as many words"
    return (
        f"{told['documents']:,} validation documents; judge: {told['judge']}; pairs of candidates "
        f"of one document, {length}, one with more that is unsupported."
    )


def votes_text(told: Mapping[str, Any]) -> str:
    """The check as plain text: a row a ranking, then the sentences."""
    rows = [["first of two equally long", "", "", "elected unsupported"]]
    for bar in bars(told):
        rows.append([bar.label, *bar.told.split(" ", 1), bar.elected])
    widths = [max(len(row[index]) for row in rows) for index in range(4)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in rest)]).rstrip()
        for row in rows
        for rest in [list(zip(row[1:], widths[1:], strict=True))]
    ]
    return "\n".join(["What the vote knows", *lines, note(told), *sentences(told)])


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
    return Knowledge(sentences(told), bars(told), note(told))
