"""What a user gets for a document."""

from dataclasses import dataclass
from typing import Any

from brido.checkers.mentions import Mention


@dataclass(frozen=True)
class Summary:
    """A document's summary, and what is known of it.

    text: "" for a blank document. ended: whether the model ended it, or stopped at its length
    limit. cut: the share of the document's tokens, 0 to 1, that the model did not read.
    unsupported: the numbers and names that the whole document does not hold, with their places in
    `text` (an approximation, see `brido.checkers.mentions`). agreement: the mean similarity of an
    elected summary with the other candidates, 0 to 1; None without candidates. flaw: why the text
    is not whole by the rules of `brido.checkers.wholeness` (one of its REASONS: "no sentence",
    "repeats", "cut", "too long"), "" where it is.
    log_probability: the model's mean log p a token of the summary, in nats, its end included (a
    forced token counts as 0); None of a blank document, and where other documents guide the search
    or a candidate is the summary: there a beam's score is another. passes: whether it passes the
    check that it was written with; None without one.
    """

    text: str
    ended: bool = True
    cut: float = 0.0
    unsupported: tuple[Mention, ...] = ()
    agreement: float | None = None
    flaw: str = ""
    log_probability: float | None = None
    passes: bool | None = None

    def as_row(self) -> dict[str, Any]:
        """The summary as JSON holds it."""
        row: dict[str, Any] = {
            "summary": self.text,
            "ended": self.ended,
            "cut": round(self.cut, 4),
            "unsupported": [
                {"type": each.type, "text": each.text, "start": each.start, "end": each.end}
                for each in self.unsupported
            ],
            "flaw": self.flaw,
        }
        measured = {"agreement": self.agreement, "log_probability": self.log_probability}
        row |= {name: round(own, 4) for name, own in measured.items() if own is not None}
        return row if self.passes is None else row | {"passes": self.passes}
