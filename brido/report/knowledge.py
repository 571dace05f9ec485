"""The check of the vote (metrics/votes.json) for a terminal."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any

from brido.report.page.vote_check import bars, note
from brido.report.text_table import aligned


def votes_text(told: Mapping[str, Any]) -> str:
    """The check as plain text: a row a ranking, then the sentences."""
    rows = [["first of two equally long", "", "elected unsupported"]]
    rows += [[bar.label, bar.text, bar.elected] for bar in bars(told)]
    sentences = [told[part]["sentence"] for part in ("election", "knows") if part in told]
    return "\n".join([aligned(rows), *(fill(text, 100) for text in [note(told), *sentences])])
