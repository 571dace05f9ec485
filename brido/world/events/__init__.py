"""The event types of the world, read from the YAML files of this folder.

`shared.yaml` explains the form of the files, lists the event types in their order and holds what
they share. The files are read once, when the first document is written or the first summary read.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, parsing, quoted
from brido.world import lexicon

FOLDER = Path(__file__).parent
# As many wordings as a lead or a sentence of the body may have: the generator's weights.
MOST_WORDINGS = 5
# The keys of an event type and of an option, and what they hold.
_EVENT: dict[str, type] = {
    "keys": dict,
    "terms": dict,
    "leads": list,
    "body": list,
    "options": list,
}
_OPTION: dict[str, type] = {"slot": str, "type": str, "extras": list, "body": list}
_FIELD = re.compile(r"\{(\w+)\}")
_ANCHOR = re.compile(r"\[(\w+)\]")


@dataclass(frozen=True)
class Option:
    """An optional fact, and how introduction (`extras`) and body word it.

    `formula` is its wording in the introduction where `formulaic_extras` holds.
    """

    slot: str
    type: str
    extras: tuple[str, ...]
    body: tuple[str, ...]
    formula: str


@dataclass(frozen=True)
class EventType:
    """A kind of news: its key facts (slot: type), leads, body sentences and optional facts.

    `terms` gives the values of slots of type `term`. Every lead has an anchor for every option.
    """

    name: str
    keys: dict[str, str]
    terms: dict[str, tuple[str, ...]]
    leads: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    options: tuple[Option, ...]


@functools.cache
def event_types() -> tuple[EventType, ...]:
    """Every event type, in the order of `shared.yaml`."""
    return tuple(read_event(FOLDER / f"{name}.yaml") for name in _shared()["events"])


@functools.cache
def distractors() -> tuple[str, ...]:
    """The body sentences that state no fact of the event."""
    return tuple(_shared()["distractors"])


@functools.cache
def _shared() -> dict[str, Any]:
    return _read_yaml(FOLDER / "shared.yaml")


def read_event(path: Path) -> EventType:
    """Read the event type of a YAML file.

    Raises:
        BridoError: the file cannot be read, or is not an event type; all problems together.
    """
    raw = _read_yaml(path)
    problems = list(_form_problems(raw))
    if not problems:
        event = _build(path.stem, raw)
        problems = list(_content_problems(event))
    if problems:
        raise BridoError.from_problems(f"{path} is not an event type:", problems)
    return event


def _read_yaml(path: Path) -> Any:
    # `brido vote-check` imports this module and needs no YAML.
    from ruamel.yaml import YAML

    with parsing(lambda reason: f"{path} cannot be read as YAML: {reason}"):
        return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def _form_problems(raw: Any) -> Iterator[str]:
    """What is wrong with the form of a file: keys, kinds of values, numbers of wordings."""
    problems = list(_key_problems("", raw, _EVENT))
    if problems:
        yield from problems
        return
    kinds = [*lexicon.MENTION_TYPES, lexicon.TERM]
    for slot, kind in raw["keys"].items():
        if kind not in kinds:
            yield f"keys.{slot}: {quoted(kind)} is not one of {', '.join(kinds)}"
    for slot, values in raw["terms"].items():
        yield from _text_problems(f"terms.{slot}", values)
    yield from _text_problems("leads", raw["leads"], MOST_WORDINGS)
    for number, group in enumerate(raw["body"]):
        yield from _text_problems(f"body[{number}]", group, MOST_WORDINGS)
    for number, option in enumerate(raw["options"]):
        yield from _option_problems(f"options[{number}]", option)


def _option_problems(place: str, option: Any) -> Iterator[str]:
    shared = [each["slot"] for each in _shared()["options"]]
    if option in shared:
        return
    if not isinstance(option, dict):
        yield f"{place}: {quoted(option)} is not one of {', '.join(shared)}, nor a mapping"
        return
    problems = list(_key_problems(f"{place}.", option, _OPTION))
    if problems:
        yield from problems
        return
    yield from _text_problems(f"{place}.extras", option["extras"])
    yield from _text_problems(f"{place}.body", option["body"], MOST_WORDINGS)
    if option["type"] not in _shared()["formulas"]:
        yield f"{place}.type: shared.yaml has no formula for {quoted(option['type'])}"


def _key_problems(place: str, raw: Any, form: dict[str, type]) -> Iterator[str]:
    given = raw if isinstance(raw, dict) else {}
    for key in (*form, *given):
        if key not in given:
            yield f"{place}{key} is missing"
        elif key not in form:
            yield f"{place}{key} is unknown"
        elif not isinstance(given[key], form[key]):
            yield f"{place}{key}: {quoted(given[key])} is not a {form[key].__name__}"


def _text_problems(place: str, texts: Any, most: int | None = None) -> Iterator[str]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        yield f"{place}: {quoted(texts)} is not a list of texts"
    elif not texts or (most and len(texts) > most):
        yield f"{place} has {len(texts)} texts; at least 1{f' and at most {most}' if most else ''}"


def _build(name: str, raw: dict[str, Any]) -> EventType:
    keys, formulas = raw["keys"], _shared()["formulas"]
    shared = {each["slot"]: each for each in _shared()["options"]}
    person = next((slot for slot, kind in keys.items() if kind == lexicon.PERSON), "person")
    options = []
    for each in raw["options"]:
        given = shared[each] if isinstance(each, str) else each
        slot, kind = given["slot"], given["type"]
        body = (text.replace("{person_last}", f"{{{person}_last}}") for text in given["body"])
        formula = formulas[kind].format(f"{{{slot}}}")
        options.append(Option(slot, kind, tuple(given["extras"]), tuple(body), formula))
    slots = [option.slot for option in options]
    return EventType(
        name,
        keys,
        {slot: tuple(values) for slot, values in raw["terms"].items()},
        tuple(_anchored(lead, slots) for lead in raw["leads"]),
        tuple(tuple(group) for group in raw["body"]),
        tuple(options),
    )


def _anchored(lead: str, slots: list[str]) -> str:
    """The lead with the anchors that it lacks, before its full stop."""
    missing = [f"[{slot}]" for slot in slots if f"[{slot}]" not in lead]
    return "".join([lead.removesuffix("."), *missing, "."])


def _content_problems(event: EventType) -> Iterator[str]:
    """Facts that a text lacks, and fields that are no fact."""
    keys, options = set(event.keys), [option.slot for option in event.options]
    terms = {slot for slot, kind in event.keys.items() if kind == lexicon.TERM}
    if terms != set(event.terms):
        yield f"terms: has {sorted(event.terms)}; the key facts of type term are {sorted(terms)}"
    if len({*keys, *options}) < len(keys) + len(options):
        yield f"options: a slot stands twice in {[*event.keys, *options]}"
    for lead in event.leads:
        if set(_FIELD.findall(lead)) != keys or sorted(_ANCHOR.findall(lead)) != sorted(options):
            yield f"leads: {quoted(lead)} does not have every key fact, or has an unknown option"
    persons = {slot for slot, kind in event.keys.items() if kind == lexicon.PERSON}
    known = keys | {f"{slot}_last" for slot in persons}
    stated: set[str] = set()
    for group in event.body:
        fields = [set(_FIELD.findall(text)) for text in group]
        stated |= set.intersection(*fields)
        for unknown in sorted(set.union(*fields) - known):
            yield f"body: {{{unknown}}} is not a key fact"
    yield from (f"body: no group always states {{{slot}}}" for slot in sorted(keys - stated))
    for option in event.options:
        for text in (*option.extras, *option.body):
            if not {option.slot} <= set(_FIELD.findall(text)) <= known | {option.slot}:
                yield f"options.{option.slot}: {quoted(text)} lacks its fact or has an unknown one"
