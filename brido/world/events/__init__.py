"""The event types of the world, read from the YAML files of this folder.

`shared.yaml` explains the form of the files, lists the event types in their order and holds what
they share. The files are read once, when the first document is written or the first summary read.
tests/world checks what they say: every fact is stated, and no field is unknown.
"""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.world import lexicon

FOLDER = Path(__file__).parent
# As many wordings as a lead or a sentence of the body may have: the generator's weights.
MOST_WORDINGS = 5


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
    return tuple(_build(name, _read_yaml(FOLDER / f"{name}.yaml")) for name in _shared()["events"])


@functools.cache
def distractors() -> tuple[str, ...]:
    """The body sentences that state no fact of the event."""
    return tuple(_shared()["distractors"])


@functools.cache
def _shared() -> dict[str, Any]:
    return _read_yaml(FOLDER / "shared.yaml")


def _read_yaml(path: Path) -> Any:
    # `brido vote-check` imports this module and needs no YAML.
    from ruamel.yaml import YAML

    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


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
