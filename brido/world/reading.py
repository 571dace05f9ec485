"""Reads texts of the world: every mention with its type, and a summary's facts with their slots.

Mentions are found by looking words up in the closed lists. A summary is read by matching it against
every introduction that the generator could have written; where it fits none, the extras that can
be recognised are read one by one and other mentions take the event's key slot of their type.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from brido.world import lexicon
from brido.world.events import EventType, Option, event_types

_WORD = re.compile(r"£\d+(?:,\d{3})*m?|\w+")
_FIRST = frozenset((*lexicon.FIRST_NAMES, *lexicon.TITLES))
_SURNAMES = frozenset(lexicon.SURNAMES)
_BRANDS = frozenset(lexicon.BRANDS)
_SECTORS = frozenset(lexicon.SECTORS)


@dataclass(frozen=True)
class WorldMention:
    """A name, number, date or place of a text: its type, its words, and where it stands."""

    type: str
    value: str
    start: int
    end: int


@dataclass(frozen=True)
class Statement:
    """What a summary says of one slot; slot is None where the role cannot be told."""

    slot: str | None
    type: str
    value: str


@dataclass(frozen=True)
class Reading:
    """A summary read: the event type whose wording it has, whether the whole sentence is one that
    the generator could have written, and its statements in no particular order."""

    event: str | None
    well_formed: bool
    statements: tuple[Statement, ...]


@functools.cache
def _events() -> dict[str, EventType]:
    return {event.name: event for event in event_types()}


def mentions(text: str) -> list[WorldMention]:
    """Every mention of `text`, in order; a name and its first name or title are one mention."""
    words = list(_WORD.finditer(text))
    found: list[WorldMention] = []
    position = 0
    while position < len(words):
        kind, length = _mention_at([word.group() for word in words[position : position + 2]])
        if kind:
            start, end = words[position].start(), words[position + length - 1].end()
            found.append(WorldMention(kind, text[start:end], start, end))
        position += length
    return found


def _mention_at(words: list[str]) -> tuple[str | None, int]:
    """Type and length of the mention that starts with words[0]; (None, 1) if none does."""
    first, second = (*words, "")[:2]
    if first in _FIRST and second in _SURNAMES:
        return lexicon.PERSON, 2
    if first in _BRANDS and second in _SECTORS:
        return lexicon.ORGANISATION, 2
    return lexicon.WORD_TYPES.get(first), 1


def supports(fact_value: str, mention_value: str) -> bool:
    """Whether a fact's value covers a mention: every word of it, titles aside.

    "Marlow" and "Mr Marlow" are covered by "Anna Marlow"; "Tom Marlow" is not.
    """
    words = set(mention_value.split()) - set(lexicon.TITLES)
    return words <= set(fact_value.split())


def key_slots(event: str) -> set[str]:
    """The slots that every introduction about an event of this type fills."""
    return set(_events()[event].keys)


def read(summary: str, event: str) -> Reading:
    """The facts that a summary states, for a document about an event of type `event`."""
    found = mentions(summary)
    skeleton = _skeleton(summary, found)
    names = [event, *(name for name in _events() if name != event)]
    for name in names:
        for pattern in _lead_patterns(name):
            match = pattern.fullmatch(skeleton)
            if match:
                return Reading(name, True, tuple(_from_match(match, found)))
    return Reading(None, False, tuple(_piecewise(skeleton, found, _events()[event])))


def _skeleton(text: str, found: list[WorldMention]) -> str:
    """`text` with each mention replaced by its type and number, `<town:2>`."""
    parts, end = [], 0
    for number, mention in enumerate(found):
        parts += [text[end : mention.start], f"<{mention.type}:{number}>"]
        end = mention.end
    return "".join([*parts, text[end:]])


def _from_match(match: re.Match[str], found: list[WorldMention]) -> Iterator[Statement]:
    for group, text in match.groupdict().items():
        if text is not None:
            slot = group.partition("__")[0]
            if text.isdigit():
                mention = found[int(text)]
                yield Statement(slot, mention.type, mention.value)
            else:
                yield Statement(slot, lexicon.TERM, text)


def _piecewise(skeleton: str, found: list[WorldMention], event: EventType) -> Iterator[Statement]:
    """Statements of a sentence that fits no lead: extras by their wording, the rest by type."""
    placed: set[int] = set()
    for option in event.options:
        for pattern in _extra_patterns(event.name, option.slot):
            for match in pattern.finditer(skeleton):
                number = int(match.group(1))
                if number not in placed:
                    placed.add(number)
                    yield Statement(option.slot, option.type, found[number].value)
    keys = {kind: slot for slot, kind in event.keys.items()}
    for number, mention in enumerate(found):
        if number not in placed:
            yield Statement(keys.get(mention.type), mention.type, mention.value)
    for slot, values in event.terms.items():
        for value in values:
            if re.search(rf"\b{re.escape(value)}\b", skeleton):
                yield Statement(slot, lexicon.TERM, value)


@functools.cache
def _lead_patterns(name: str) -> tuple[re.Pattern[str], ...]:
    event = _events()[name]
    return tuple(_compile_lead(lead, event) for lead in event.leads)


@functools.cache
def _extra_patterns(name: str, slot: str) -> tuple[re.Pattern[str], ...]:
    option = next(each for each in _events()[name].options if each.slot == slot)
    return tuple(re.compile(_extra(wording, option, None)) for wording in _wordings(option))


def _compile_lead(lead: str, event: EventType) -> re.Pattern[str]:
    options = {option.slot: option for option in event.options}
    pieces = []
    for piece in re.split(r"(\{\w+\}|\[\w+\])", lead):
        slot = piece[1:-1]
        if piece.startswith("{"):
            kind = event.keys[slot]
            choices = "|".join(map(re.escape, event.terms.get(slot, ())))
            group = choices if kind == lexicon.TERM else r"\d+"
            named = f"(?P<{slot}>{group})"
            pieces.append(named if kind == lexicon.TERM else f"<{kind}:{named}>")
        elif piece.startswith("["):
            wordings = enumerate(_wordings(options[slot]))
            extras = "|".join(_extra(text, options[slot], number) for number, text in wordings)
            pieces.append(f"(?:{extras})?")
        else:
            pieces.append(re.escape(piece))
    return re.compile("".join(pieces))


def _wordings(option: Option) -> tuple[str, ...]:
    return (*option.extras, option.formula)


def _extra(wording: str, option: Option, number: int | None) -> str:
    """A pattern of one wording; its last comma may have merged with the punctuation after it."""
    group = r"(\d+)" if number is None else rf"(?P<{option.slot}__{number}>\d+)"
    text = re.escape(wording.removesuffix(","))
    text = text.replace(re.escape(f"{{{option.slot}}}"), f"<{option.type}:{group}>")
    return text + (r"(?:,(?![,.])|(?=[,.]))" if wording.endswith(",") else "")
