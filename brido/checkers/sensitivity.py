"""What a check can see: one error is planted in each reference, and the check is asked again.

The errors are FactCC's transformations (Kryscinski et al. 2020, section 3.1), by rules and without
a model: names swapped, a number changed, a name from elsewhere, and beside these a sentence that
is cut and another document's summary.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brido.checkers.mentions import (
    capitalised_spans,
    placeholders,
    speakers_of,
    text_mentions,
    world_mentions,
)
from brido.checkers.numbers import known_numbers, numbers_of
from brido.checkers.wholeness import is_whole, whole_by_rules
from brido.utils.text import split_sentences

# (document, summary) -> how many errors the check finds; True and False count as 1 and 0.
Check = Callable[[str, str], float]
# Plain words for each kind of error, in the order of a table.
KINDS = {
    "swapped names": "two names or speakers of the document change places",
    "changed number": "a number or date becomes another",
    "invented name": "a name becomes one of another document",
    "cut sentence": "the last sentence ends in its middle",
    "other summary": "the summary is another document's",
}
# Of these a check of facts must see some; a summary of another document is seen by most.
THAT_MATTER = ("swapped names", "changed number", "invented name")
# A check that calls more of people's own summaries unsupported cannot tell good from bad.
MOST_REFERENCES = 0.2
HALF = 0.5
_FEWEST = 5


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


@dataclass(frozen=True)
class Sensitivity:
    """What a check notices in these texts.

    noticed: by kind, of the planted errors. unsupported: of untouched references, those in which
    the check finds an error. not_whole: those that the rules call cut, looping or too long, where
    the check asks that too; of none elsewhere. checked: those with a name or number to look up.
    """

    noticed: dict[str, Share]
    unsupported: Share
    not_whole: Share
    checked: Share

    @property
    def answers(self) -> bool:
        """Whether the check can tell good from bad here.

        It calls at most a fifth of people's own summaries unsupported, and notices more than half
        of the errors of some kind that matters.
        """
        return not self.refuses and any(self.sees(kind) for kind in THAT_MATTER)

    @property
    def refuses(self) -> bool:
        """Whether the check calls more than a fifth of people's own summaries unsupported."""
        return self.unsupported.value > MOST_REFERENCES

    def sees(self, kind: str) -> bool:
        """Whether it notices more than half of the errors of a kind, of five at least."""
        share = self.noticed[kind]
        return share.of >= _FEWEST and share.value > HALF

    def line(self, name: str, exact: bool = False) -> str:
        """What a verdict begins with; exact: the check knows the truth, as on the world."""
        text = f"{self.sentence(name)}."
        if exact:
            text = text.replace("your own summaries", "the references")
            return f"{text} That is so: these tell what their documents do not."
        if self.answers:
            return f"{text} The same check chooses and measures."
        return (
            f"{text} So it cannot say here which summaries are good: read twenty, or measure by "
            "minicheck, geval or qafacteval."
        )

    def sentence(self, name: str) -> str:
        """What the check sees, in one sentence."""
        shares = {kind: self.noticed[kind] for kind in THAT_MATTER if self.noticed[kind].of}
        if not shares:
            return f"{name} calls {self.unsupported} of your own summaries unsupported"
        seen = [f"{kind}s ({share})" for kind, share in shares.items() if share.value > HALF]
        unseen = [f"{kind}s ({share})" for kind, share in shares.items() if share.value <= HALF]
        told = f"{name} sees {_listed(seen)}" if seen else f"{name} sees none of what matters"
        told += f", not {_listed(unseen)}" if unseen else ""
        told = told.replace("namess", "names")
        return f"{told}; it calls {self.unsupported} of your own summaries unsupported"

    def plain(self) -> dict[str, Any]:
        """As metrics/choice.json has it."""
        return {
            "noticed": {
                kind: {"share": None if not share.of else round(share.value, 4), "of": share.of}
                for kind, share in self.noticed.items()
            },
            "unsupported": round(self.unsupported.value, 4),
            "not_whole": round(self.not_whole.value, 4) if self.not_whole.of else None,
            "checked": round(self.checked.value, 4),
            "references": self.unsupported.of,
            "answers": self.answers,
        }


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""


def unsupported_mentions(document: str, summary: str) -> float:
    """How many mentions of a summary its document does not have."""
    return sum(not one.supported for one in text_mentions(document, summary, True))


def exact_check(facts: Mapping[str, list[dict[str, Any]]]) -> Check:
    """The check of the embedded world, which is exact: what it calls not good.

    facts: by document, as the corpus table has them.
    """

    def check(document: str, summary: str) -> float:
        found = world_mentions(summary, facts[document])
        missing = sum(not one.supported for one in found)
        return missing + (not is_whole(summary, None, facts[document]))

    return check


def _is_broken(document: str, summary: str) -> float:
    return not whole_by_rules(summary, None, document)


def sensitivity(
    check: Check | str, documents: Sequence[str], references: Sequence[str], seed: int = 0
) -> Sensitivity:
    """Plant one error of each kind in each reference and count which the check notices.

    check: a function of document and summary that says how many errors it finds (or whether), or
    "mentions". It notices an error where it finds one and finds none in the untouched reference;
    references in which it finds one already are left out of these shares. documents and references:
    the same number of texts; a kind of error is planted where a reference has a place for it. The
    same seed plants the same errors.

    Raises:
        ValueError: there are fewer than two documents, not as many references, or no such check.

    Example:
        >>> found = sensitivity("mentions", ["Ann met Bo on May 5.", "Cy paid 30 euros."],
        ...                     ["Yesterday Ann met Bo on May 5.", "Here Cy paid 30 euros."])
        >>> str(found.noticed["changed number"]), str(found.noticed["swapped names"])
        ('100 %', '0 %')
    """
    if len(documents) != len(references) or len(documents) < 2:
        raise ValueError(
            f"sensitivity needs two documents at least and a reference for each, and got "
            f"{len(documents)} and {len(references)}"
        )
    wholeness = _is_broken if check == "mentions" else None
    errors = unsupported_mentions if check == "mentions" else check
    if isinstance(errors, str):
        raise ValueError(
            f"{check!r} is no check: 'mentions', or a function of document and summary"
        )

    def found(document: str, text: str) -> float:
        return errors(document, text) + (wholeness(document, text) if wholeness else 0)

    pairs = list(zip(documents, references, strict=True))
    before = [found(*pair) for pair in pairs]
    counts = {kind: [0, 0] for kind in KINDS}
    for index, kind, text in planted(documents, references, seed):
        if not before[index]:  # one error would hide behind another
            counts[kind][0] += found(documents[index], text) > 0
            counts[kind][1] += 1
    broken = [wholeness(*pair) for pair in pairs] if wholeness else []
    return Sensitivity(
        {kind: Share(*both) for kind, both in counts.items()},
        Share(sum(errors(*pair) > 0 for pair in pairs), len(pairs)),
        Share(int(sum(broken)), len(broken)),
        Share(sum(bool(text_mentions(*pair, True)) for pair in pairs), len(pairs)),
    )


def planted(
    documents: Sequence[str], references: Sequence[str], seed: int = 0
) -> Iterator[tuple[int, str, str]]:
    """Each planted error: the document's number, the kind, and the reference with the error."""
    names = [names_of(text) for text in documents]
    for index, (document, reference) in enumerate(zip(documents, references, strict=True)):
        rng = random.Random(f"{seed} {index}")
        other = rng.choice([place for place in range(len(documents)) if place != index])
        made = {
            "swapped names": _swapped(reference, names[index], rng),
            "changed number": _changed(document, reference, rng),
            "invented name": _invented(document, reference, names[other], rng),
            "cut sentence": _cut(reference),
            "other summary": references[other],
        }
        for kind, text in made.items():
            if text is not None and text != reference:
                yield index, kind, text


def names_of(text: str) -> list[str]:
    """The names of a text, each once: placeholders, speakers, and capitals inside sentences."""
    found = placeholders(text) + speakers_of(text)
    for sentence in split_sentences(text):
        found += [words for words, start, _ in capitalised_spans(sentence) if start]
    return list(dict.fromkeys(name for name in found if len(name) > 1))


def _swapped(reference: str, names: Sequence[str], rng: random.Random) -> str | None:
    """Two names of the reference change places, or its one name becomes another of the document."""
    there = [name for name in names if name in reference]
    others = [name for name in names if name not in reference]
    if len(there) >= 2:
        first, second = rng.sample(there, 2)
        if first in second or second in first:
            return None
        hidden = reference.replace(first, "\0")
        return hidden.replace(second, first).replace("\0", second)
    if there and others:
        return reference.replace(there[0], rng.choice(others))
    return None


def _changed(document: str, reference: str, rng: random.Random) -> str | None:
    """A number becomes one that the document does not have."""
    numbers = [one for one in numbers_of(reference) if one.values != {"1"}]
    if not numbers:
        return None
    one, known = rng.choice(numbers), known_numbers(document)
    old = reference[one.start : one.end]
    digits = [place for place, sign in enumerate(old) if sign.isascii() and sign.isdigit()]
    if not digits:
        value = float(min(one.values))
        free = [value + more for more in range(1, 20) if f"{value + more:g}" not in known]
        return reference[: one.start] + f"{rng.choice(free):g}" + reference[one.end :]
    for _ in range(20):
        place = rng.choice(digits)
        sign = rng.choice([sign for sign in "23456789" if sign != old[place]])
        new = reference[: one.start] + old[:place] + sign + old[place + 1 :] + reference[one.end :]
        own = [each for each in numbers_of(new) if each.start == one.start]
        if own and not own[0].values & known:
            return new
    return None


def _invented(
    document: str, reference: str, foreign: Sequence[str], rng: random.Random
) -> str | None:
    there = [name for name in names_of(reference) if name in document] or names_of(reference)
    new = [name for name in foreign if name.lower() not in document.lower()]
    if not there or not new:
        return None
    return reference.replace(rng.choice(there), rng.choice(new), 1)


def _cut(reference: str) -> str | None:
    sentence = split_sentences(reference)[-1] if reference.strip() else ""
    words = sentence.split()
    if len(words) < 4:
        return None
    start = reference.rindex(sentence)
    return reference[:start] + " ".join(words[: len(words) // 2])
