"""What each order does: good summaries of a system minus those of another, regime by regime."""

from collections.abc import Iterable, Iterator, Mapping

from experiments.numbers import clear, gaps, pairs
from experiments.rows import planned_rows, planned_settings
from experiments.tables import Record, cells

ORDERS = ("vote", "information", "likelihood", "brio", "control")
UNTRAINED = ("guided", "short", "elected")
# Is it the order? And which?
RIVALS = (
    *((name, "control") for name in ORDERS if name != "control"),
    ("information", "vote"),
)
# What a loss does under any order (loss `spread`: flat; `listwise`: the other three).
LOSSES = (
    ("flat", "base"),
    ("flat", "control"),
    ("null", "base"),
    ("known", "null"),
    ("vote_listwise", "base"),
)
SYSTEMS = ("base", *ORDERS, *UNTRAINED, "checked", "flat", "known", "null", "vote_listwise")
TRAITS = ("good", "unsupported", "whole", "good - base", "ROUGE-1", "words")


def orders() -> Iterator[Record]:
    """What each system gains on base."""
    gained = {name: (name, "base") for name in (*ORDERS, *UNTRAINED)}
    yield from _compared("good summaries - base's", gained)


def rivals() -> Iterator[Record]:
    """What an order gains on the control, and information on the vote."""
    yield from _compared("good summaries", _named(RIVALS))


def losses() -> Iterator[Record]:
    """What the losses do without an order, and without what base prefers."""
    yield from _compared("good summaries", _named(LOSSES))


def _named(questions: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    return {f"{first} - {second}": (first, second) for first, second in questions}


def _compared(head: str, questions: Mapping[str, tuple[str, str]]) -> Iterator[Record]:
    """A row for each regime: how much the first system of each question is above the second."""
    for setting in planned_settings():
        found = {
            label: clear(gaps(pairs(planned_rows(setting), *both)))
            for label, both in questions.items()
        }
        if any(found.values()):
            yield {head: setting} | found


def traits() -> Iterator[Record]:
    """Each system in numbers, a row for each regime."""
    for setting in planned_settings():
        own = planned_rows(setting)
        for name in SYSTEMS:
            if pairs(own, name, name):
                found = cells(own, name, ["base"])
                yield {"regime": setting, "system": name, "runs": found["seeds"]} | {
                    column: found[column] for column in TRAITS
                }
