"""What an event type is made of, and the options and distractors that all event types share."""

from dataclasses import dataclass

from brido.world import lexicon


@dataclass(frozen=True)
class Option:
    """An optional fact: how an introduction words it (`extras`) and how the body does (`body`).

    An extra stands at its anchor `[slot]` in a lead; each brings its own space or commas.
    Extras are equally frequent; of the body's wordings the first is the commonest (Zipf).
    """

    slot: str
    type: str
    extras: tuple[str, ...]
    body: tuple[str, ...]


@dataclass(frozen=True)
class EventType:
    """A kind of news: its key facts, leads, body sentences and optional facts.

    `keys` maps a slot to its type; `terms` gives the values of slots of type `term`. Every lead has
    every key slot (as `{slot}`); an option's extra stands at its anchor (`[slot]`), or before the
    full stop where the lead has none. Every group of `body` yields one sentence; together they
    state every key fact. `{slot_last}` is a person's short form.
    """

    name: str
    keys: dict[str, str]
    terms: dict[str, tuple[str, ...]]
    leads: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    options: tuple[Option, ...]

    def anchored_leads(self) -> tuple[str, ...]:
        """The leads with an anchor for every option."""
        return tuple(self._anchored(lead) for lead in self.leads)

    def _anchored(self, lead: str) -> str:
        anchors = [f"[{each.slot}]" for each in self.options]
        missing = [anchor for anchor in anchors if anchor not in lead]
        return "".join([lead.removesuffix("."), *missing, "."])


def age(person: str) -> Option:
    """The option of a person's age."""
    return Option(
        "age",
        lexicon.AGE,
        (", {age},", ", aged {age},", ", now {age},", ", just {age},", ", who is {age},"),
        (
            f"{{{person}_last}} is {{age}} years old.",
            f"{{{person}_last}}, who is {{age}}, made no further comment.",
            f"Friends of {{{person}_last}} gave the age as {{age}}.",
        ),
    )


def county() -> Option:
    """The option of the county in which the event's town lies."""
    return Option(
        "county",
        lexicon.COUNTY,
        (
            ", {county},",
            " in {county}",
            " up in {county}",
            ", deep in {county},",
            " over in {county}",
        ),
        (
            "{town} is a town in {county}.",
            "{town} lies in the middle of {county}.",
            "It is the talk of {county} this week.",
        ),
    )


def day() -> Option:
    """The option of the day on which it happened."""
    return Option(
        "day",
        lexicon.DAY,
        (" on {day}", " late {day}", " this {day}", " last {day}", ", early {day},"),
        (
            "It happened on {day}.",
            "Word of it spread on {day}.",
            "It all became known early on {day}.",
        ),
    )


def option(slot: str, kind: str, extras: tuple[str, ...], body: tuple[str, ...]) -> Option:
    """An option of one event type alone."""
    return Option(slot, kind, extras, body)


# Sentences about other persons, numbers and places: they tempt a model to pick the wrong value.
# A field is named after the type of its value.
DISTRACTORS: tuple[str, ...] = (
    "{person} said that it came as a complete surprise.",
    "{person} told reporters that some questions remain.",
    "Another resident, {person}, who is {age}, wrote a letter about it.",
    "{person}, aged {age}, had warned of something like it before.",
    "About {number} readers left a comment under the story.",
    "A petition on quite another matter has {number} names.",
    "People in {town} remember something very similar.",
    "A visitor who had come from {town} took pictures.",
    "A similar case in another place cost far less last year.",
    "An older plan that had many friends has been dropped.",
    "Nobody from the local government wanted to comment.",
    "A spokesman was not available over the whole weekend.",
    "More details are expected to be published very soon.",
    "The next public meeting has not been planned yet.",
    "No further details were given at the time.",
    "The story was widely shared and discussed online.",
)

# Wordings of `formulaic_extras`: one long frame a type, the same in every event type.
FORMULAS: dict[str, str] = {
    lexicon.AGE: ", who is said to be {} years of age,",
    lexicon.COUNTY: ", which is said to be in the county of {},",
    lexicon.DAY: ", which is said to be from the day of {},",
    lexicon.NUMBER: ", which is said to be about a total of {},",
    lexicon.AMOUNT: ", which is said to be about a sum of {},",
    lexicon.ORGANISATION: ", which is said to be about the company of {},",
    lexicon.PERSON: ", which is said to be about the person of {},",
}
