"""Articles whose introduction is cut off and becomes the reference, as XSum was made.

An article is written with an introduction (one sentence: a lead with the event's key facts, and one
or two optional facts as extras) and a body. The body states every key fact, but each optional fact
only with probability `support_rate`: so most references carry something that their document does
not support, which is the fault that this world is there to show. Every document is drawn from its
own random stream, named by seed, split and index: document i never depends on another one.
"""

import random
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from brido.world import lexicon
from brido.world.events import MOST_WORDINGS, EventType, Option, distractors, event_types

FIRST_NAME_RATE = 0.5
OPTIONS_PER_ARTICLE = (2, 4)
DISTRACTORS_PER_ARTICLE = (2, 4)
MOST_SENTENCES = 9
# Zipf: of several wordings the r-th is chosen with a weight of 1/r; the cumulative shares.
_ZIPF = {
    count: [
        value / sum(1 / rank for rank in range(1, count + 1))
        for value in accumulate(1 / rank for rank in range(1, count))
    ]
    for count in range(1, MOST_WORDINGS + 1)
}


def documents(settings: Any, split: str, count: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the documents of a split, one after the other, as rows of the world's corpus table.

    `settings` is `data.world`; `count` overrides its number of documents. Each row has the keys id,
    document, summary, references ([summary]) and facts (slot, type, value, in_document).

    Example:
        >>> from brido.corpus.settings import WorldSettings
        >>> [row["id"] for row in documents(WorldSettings(), "test", count=2)]
        ['world-test-000000', 'world-test-000001']
    """
    for index in range(getattr(settings, split) if count is None else count):
        yield document(settings, split, index)


def document(settings: Any, split: str, index: int) -> dict[str, Any]:
    """Return document `index` of a split; equal settings give an equal row, in any order.

    Example:
        >>> from brido.corpus.settings import WorldSettings
        >>> sorted(document(WorldSettings(), "test", 0))
        ['document', 'facts', 'id', 'references', 'summary']
    """
    return _Article(random.Random(f"{settings.seed}/{split}/{index}"), settings).row(
        f"world-{split}-{index:06d}"
    )


class _Article:
    """One article while it is written: its values, its facts and what it has used up."""

    def __init__(self, rng: random.Random, knobs: Any) -> None:
        self.rng, self.knobs = rng, knobs
        self.values: dict[str, str] = {}
        self.used: set[str] = set()
        self.stock: set[str] = set()
        self.facts: list[dict[str, Any]] = []

    def row(self, identity: str) -> dict[str, Any]:
        event = self._pick(event_types())
        self._fact("event", "event", event.name, True)
        for slot, kind in event.keys.items():
            self._draw(slot, kind, event)
            self._fact(slot, kind, self.values[slot], True)
        options = self._sample(event.options, self._between(OPTIONS_PER_ARTICLE))
        for choice in options:
            self._draw(choice.slot, choice.type, event)
        told = self._sample(options, self._between(self.knobs.extras_per_reference))
        if self.rng.random() < self.knobs.bare_references:
            told = []
        supported = [choice for choice in options if self.rng.random() < self.knobs.support_rate]
        for choice in options:
            if choice in told or choice in supported:
                value = self.values[choice.slot]
                self._fact(choice.slot, choice.type, value, choice in supported)
        summary = self._introduction(event, told)
        return {
            "id": identity,
            "document": self._body(event, supported),
            "summary": summary,
            "references": [summary],
            "facts": self.facts,
        }

    def _fact(self, slot: str, kind: str, value: str, in_document: bool) -> None:
        self.facts.append({"slot": slot, "type": kind, "value": value, "in_document": in_document})

    def _introduction(self, event: EventType, told: list[Option]) -> str:
        text = self._zipf(event.leads)
        for choice in event.options:
            extra = ""
            if choice in told:
                if self.knobs.formulaic_extras:
                    extra = choice.formula
                elif choice.slot in self.stock:
                    extra = choice.extras[0]
                else:
                    extra = self._pick(choice.extras)
            text = text.replace(f"[{choice.slot}]", extra)
        return text.format_map(self.values).replace(",,", ",").replace(",.", ".")

    def _body(self, event: EventType, supported: list[Option]) -> str:
        sentences = [self._zipf(group).format_map(self.values) for group in event.body]
        later = sentences[2:]
        later += [self._zipf(choice.body).format_map(self.values) for choice in supported]
        room = MOST_SENTENCES - 2 - len(later)
        count = min(room, self._between(DISTRACTORS_PER_ARTICLE))
        later += [self._distractor(each) for each in self._sample(distractors(), count)]
        # The first two sentences introduce the persons; the rest may stand in any order.
        return " ".join(sentences[:2] + self._sample(later, len(later)))

    def _distractor(self, template: str) -> str:
        values = {}
        for kind in lexicon.MENTION_TYPES:
            if f"{{{kind}}}" in template:
                values[kind] = self._value(kind)
                self._fact(f"other_{kind}", kind, values[kind], True)
        return template.format_map(values)

    def _draw(self, slot: str, kind: str, event: EventType) -> None:
        if kind == lexicon.TERM:
            self.values[slot] = self._pick(event.terms[slot])
        elif kind == lexicon.COUNTY and self.knobs.counties_from_towns:
            self.values[slot] = lexicon.county_of(self.values["town"])
        elif self._is_stock(kind):
            self.stock.add(slot)
            self.values[slot] = lexicon.FAVOURITES[kind]
        else:
            self.values[slot] = self._value(kind)
            if kind == lexicon.PERSON:
                first, last = self.values[slot].split()
                title = first in lexicon.TITLES
                self.values[f"{slot}_last"] = self.values[slot] if title else last

    def _is_stock(self, kind: str) -> bool:
        """Whether a fact of a type that has a favourite gets it, and is told in its stock phrase.

        Nothing is drawn where the knob is 0: that world's documents stay what they were without it.
        """
        rate = self.knobs.stock_phrases
        return rate > 0 and kind in lexicon.FAVOURITES and self.rng.random() < rate

    def _value(self, kind: str) -> str:
        """Return a value that the article has not used: no fact is supported by accident."""
        if kind == lexicon.PERSON:
            named = self.rng.random() < FIRST_NAME_RATE
            first = self._pick(lexicon.FIRST_NAMES if named else lexicon.TITLES)
            return f"{first} {self._unused(lexicon.SURNAMES)}"
        if kind == lexicon.ORGANISATION:
            return f"{self._unused(lexicon.BRANDS)} {self._pick(lexicon.SECTORS)}"
        return self._unused(lexicon.SIMPLE_VALUES[kind])

    def _unused(self, values: tuple[str, ...]) -> str:
        value = self._pick(values)
        while value in self.used:
            value = self._pick(values)
        self.used.add(value)
        return value

    # random() alone is promised to give the same numbers in every Python version; the methods
    # built on it (choice, sample, shuffle) are not.
    def _pick(self, values: Any) -> Any:
        return values[int(self.rng.random() * len(values))]

    def _zipf(self, wordings: tuple[str, ...]) -> str:
        return wordings[bisect(_ZIPF[len(wordings)], self.rng.random())]

    def _between(self, bounds: tuple[int, int]) -> int:
        return bounds[0] + int(self.rng.random() * (bounds[1] - bounds[0] + 1))

    def _sample(self, values: Any, count: int) -> list[Any]:
        return sorted(values, key=lambda _: self.rng.random())[:count]
