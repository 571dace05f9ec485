"""What a check can see: one error is planted in each reference, and the check is asked again."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from brido.checkers.mentions import text_mentions
from brido.checkers.planting import KINDS, planted
from brido.utils.errors import ArgumentError

# Of these a check of facts must see some; a summary of another document is seen by most.
THAT_MATTER = ("swapped names", "changed number", "invented name")
# A check that calls more of people's own summaries unsupported cannot tell good from bad.
MOST_REFERENCES = 0.2
HALF = 0.5
_FEWEST = 5


class Finding(NamedTuple):
    """What a check says of one summary.

    value: lower where more is made up. passes: whether nothing is; None where the check has no
    threshold. whole: whether the text is whole; None where the check does not ask.
    """

    value: float
    passes: bool | None
    whole: bool | None = None

    @property
    def good(self) -> bool | None:
        """Whether it passes and is not broken; None without a threshold."""
        return None if self.passes is None else self.passes and self.whole is not False


# What is counted of untouched references.
_REFERENCES = ("unsupported", "not_whole", "checked")
# (document, summary) -> how many errors the check finds; True and False count as 1 and 0.
Check = Callable[[str, str], float]
# Documents by their numbers and a summary of each -> what the check says, None where it cannot.
Judge = Callable[[Sequence[int], Sequence[str]], Sequence[Finding | None]]


@dataclass(frozen=True)
class Share:
    """A share of `of` cases, with Wilson's 95 % interval; NaN of none."""

    count: int
    of: int

    @property
    def value(self) -> float:
        return self.count / self.of if self.of else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval, (0, 1) of no case."""
        if not self.of:
            return 0.0, 1.0
        z, n, p = 1.959964, self.of, self.value
        centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)

    def __str__(self) -> str:
        return f"{100 * self.value:.0f} %" if self.of else "none"

    def plain(self) -> dict[str, Any]:
        """As a JSON file has it; `from_plain` reads it."""
        value = round(self.value, 4) if self.of else None
        return {"share": value, "count": self.count, "of": self.of}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Share":
        """What `plain` has written."""
        return cls(plain["count"], plain["of"])


@dataclass(frozen=True)
class Sensitivity:
    """What a check notices in these texts.

    noticed: by kind, of the planted errors. Of untouched references, unsupported: those in which it
    finds an error (of none without a threshold), not_whole: those that it calls cut, looping or too
    long (of none where it does not ask), checked: those with a name or number to look up.
    """

    noticed: dict[str, Share]
    unsupported: Share
    not_whole: Share
    checked: Share

    @property
    def answers(self) -> bool:
        """Whether the check can tell good from bad here: it does not refuse, and sees a kind."""
        return not self.refuses and any(self.sees(kind) for kind in THAT_MATTER)

    @property
    def refuses(self) -> bool:
        """Whether the check calls more than a fifth of people's own summaries unsupported."""
        return self.unsupported.value > MOST_REFERENCES

    def sees(self, kind: str) -> bool:
        """Whether it notices more than half of the errors of a kind, of five at least."""
        share = self.noticed[kind]
        return share.of >= _FEWEST and share.value > HALF

    def sentence(self, name: str, whose: str = "your own summaries") -> str:
        """What the check sees, in one sentence; of fewer than five errors nothing is said."""
        kinds = [kind for kind in THAT_MATTER if self.noticed[kind].of >= _FEWEST]
        seen = self._listed([kind for kind in kinds if self.sees(kind)])
        unseen = self._listed([kind for kind in kinds if not self.sees(kind)])
        told = f"{name} was asked of fewer than {_FEWEST} wrong facts of each kind"
        if kinds:
            told = f"{name} sees {seen}" if seen else f"{name} does not see {unseen}"
            told += f", not {unseen}" if seen and unseen else ""
        if self.unsupported.of:
            told += f"; it calls {self.unsupported} of {whose} unsupported"
        return told

    def _listed(self, kinds: Sequence[str]) -> str:
        told = [f"{kind.removesuffix('s')}s ({self.noticed[kind]})" for kind in kinds]
        return " and ".join(filter(None, [", ".join(told[:-1]), *told[-1:]]))

    def plain(self) -> dict[str, Any]:
        """As a JSON file has it; `from_plain` reads it."""
        return {
            "noticed": {kind: share.plain() for kind, share in self.noticed.items()},
            **{name: getattr(self, name).plain() for name in _REFERENCES},
            "answers": self.answers,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Sensitivity":
        """What `plain` has written."""
        noticed = {kind: Share.from_plain(plain["noticed"][kind]) for kind in KINDS}
        return cls(noticed, *(Share.from_plain(plain[name]) for name in _REFERENCES))


def sensitivity(
    check: Check | str, documents: Sequence[str], references: Sequence[str], seed: int = 0
) -> Sensitivity:
    """Plant one error of each kind in each reference and count which the check notices.

    check: a function of document and summary that says how many errors it finds (or whether), or
    the name of a metric that says what a document supports, such as "mentions". documents and
    references: the same number of texts; a kind of error is planted where a reference has a place
    for it. The same seed plants the same errors. With a metric's settings:
    `brido.evaluation.planted.metric_sensitivity`.

    The check notices an error where its verdict changes: references in which it finds one already
    are left out of these shares.

    Raises:
        ArgumentError: there are fewer than two documents, or not as many references.
        BridoError: there is no such metric, or it says nothing about support.

    Example:
        >>> texts = ["In town Ann met Bo on May 5.", "In town Cy paid Di 30 euros."]
        >>> found = sensitivity(lambda document, summary: summary != document, texts, texts)
        >>> str(found.noticed["changed number"])
        '100 %'
    """
    if isinstance(check, str):
        # The room of metrics imports this one.
        metric = import_module("brido.evaluation.registry").find_metric(check)
        metrics = import_module("brido.evaluation.planted")
        found: Sensitivity = metrics.metric_sensitivity(metric, documents, references, seed)
        return found

    def judge(numbers: Sequence[int], texts: Sequence[str]) -> list[Finding | None]:
        errors = [check(documents[i], text) for i, text in zip(numbers, texts, strict=True)]
        return [Finding(-float(count), not count) for count in errors]

    return measured(judge, 0.0, documents, references, seed)


def measured(
    judge: Judge, step: float, documents: Sequence[str], references: Sequence[str], seed: int
) -> Sensitivity:
    """What a judge of these documents notices; as `sensitivity`.

    A judge that gives marks without a threshold notices an error where its mark falls by more than
    `step`.
    """
    if len(documents) != len(references) or len(documents) < 2:
        raise ArgumentError(
            f"sensitivity needs two documents at least and a reference for each, and got "
            f"{len(documents)} and {len(references)}"
        )
    errors = list(planted(documents, references, seed))
    # All in one call: a server says at once what it would take.
    numbers = [*range(len(documents)), *(index for index, *_ in errors)]
    found = judge(numbers, [*references, *(text for *_, text in errors)])
    before, after = found[: len(documents)], found[len(documents) :]
    noticed: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for (index, kind, _), finding in zip(errors, after, strict=True):
        own = before[index]
        # One error would hide behind another.
        if own and finding and own.good is not False:
            fell = own.value - finding.value > step
            noticed[kind].append(fell if own.good is None else not finding.good)
    told = [own for own in before if own]
    texts = zip(documents, references, strict=True)
    return Sensitivity(
        {kind: _share_of(cases) for kind, cases in noticed.items()},
        _share_of([not own.passes for own in told if own.passes is not None]),
        _share_of([not own.whole for own in told if own.whole is not None]),
        _share_of([bool(text_mentions(document, text, True)) for document, text in texts]),
    )


def _share_of(cases: Sequence[bool]) -> Share:
    return Share(sum(cases), len(cases))


def table_of(found: Mapping[str, Sensitivity]) -> list[list[str]]:
    """Rows for people: a heading, then the share of each kind that each check notices.

    Each cell has the share, Wilson's 95 % interval and of how many.

    Example:
        >>> found = sensitivity(lambda document, summary: False, ["A.", "B."], ["So.", "Lo."])
        >>> table_of({"blind": found})[-1]
        ['called unsupported', '0 % [0, 66] of 2']
    """
    shares = {kind: [one.noticed[kind] for one in found.values()] for kind in KINDS}
    shares["called unsupported"] = [one.unsupported for one in found.values()]
    shares["called not whole"] = [one.not_whole for one in found.values()]
    rows = [[name, *map(_cell, own)] for name, own in shares.items() if any(one.of for one in own)]
    return [["planted, and noticed by", *found], *rows]


def _cell(share: Share) -> str:
    if not share.of:
        return "–"
    low, high = (round(100 * abs(end)) for end in share.interval)  # rounding may end below 0
    return f"{share} [{low}, {high}] of {share.of}"
