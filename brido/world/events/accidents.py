"""Event types of roads and fires."""

from brido.world.events.model import EventType, age, county, day, option
from brido.world.lexicon import AMOUNT, NUMBER, ORGANISATION, PERSON, TERM, TOWN

CRASH = EventType(
    name="crash",
    keys={"driver": PERSON, "vehicle": TERM, "town": TOWN},
    terms={"vehicle": ("lorry", "van", "bus", "motorbike", "tractor", "taxi")},
    leads=(
        "{driver}[age] has died after losing control of a {vehicle} near {town}[county].",
        "Police are looking into the death of {driver}[age] in a {vehicle} near {town}[county].",
        "A {vehicle} crash near {town}[county] has killed {driver}[age].",
        "The driver of a {vehicle}, {driver}[age], has been killed on a road near {town}[county].",
    ),
    body=(
        (
            "{driver} was at the wheel of the {vehicle}.",
            "The {vehicle} was driven by {driver}.",
            "{driver} lost control of the {vehicle} on a bend.",
        ),
        (
            "The road near {town} was closed for hours.",
            "Officers were called to a road outside {town}.",
            "Traffic around {town} came to a halt.",
        ),
        (
            "Doctors could not save {driver_last}.",
            "Nobody but {driver_last} was hurt.",
            "The family of {driver_last} has been told.",
        ),
    ),
    options=(
        age("driver"),
        county(),
        day(),
        option(
            "number",
            NUMBER,
            (
                " as {number} watched",
                " before {number} people",
                " and delayed {number}",
                ", stopping {number} cars,",
                " with {number} stuck",
            ),
            (
                "Some {number} people were caught in the queue.",
                "The police counted {number} cars in the jam.",
                "About {number} travellers came home late.",
            ),
        ),
        option(
            "firm",
            ORGANISATION,
            (
                " working for {firm}",
                " near {firm}",
                " outside {firm}",
                ", employed by {firm},",
                " on {firm} business",
            ),
            (
                "{driver_last} worked for {firm}.",
                "{firm} owned what was left of it.",
                "The trip was made for {firm}.",
            ),
        ),
    ),
)


FIRE = EventType(
    name="fire",
    keys={"owner": PERSON, "building": TERM, "town": TOWN},
    terms={"building": ("warehouse", "school", "hotel", "farm", "library", "bakery")},
    leads=(
        "{owner}[age] has lost a {building} in a fire that broke out in {town}[county].",
        "A night of fire in {town}[county] has destroyed the {building} of {owner}[age].",
        "Fire crews in {town}[county] could not save the {building} of {owner}[age].",
        "{town}[county] has seen a fire take the whole {building} that {owner}[age] ran.",
    ),
    body=(
        (
            "Flames were seen above the {building} before dawn.",
            "The {building} burned for most of the night.",
            "Crews fought to keep the {building} standing.",
        ),
        (
            "It belongs to {owner} and had just been painted.",
            "{owner} had run it for many years.",
            "{owner} watched from across the street.",
        ),
        (
            "Smoke hung over {town} for hours.",
            "The streets of {town} smelled of ash.",
            "Every engine in {town} was sent out.",
        ),
    ),
    options=(
        age("owner"),
        county(),
        day(),
        option(
            "number",
            NUMBER,
            (
                " and {number} fled",
                " that moved {number}",
                " with {number} inside",
                ", waking {number},",
                " before {number} people",
            ),
            (
                "About {number} neighbours had to leave their beds.",
                "Police moved {number} people out of danger.",
                "Some {number} guests stood in the cold.",
            ),
        ),
        option(
            "money",
            AMOUNT,
            (
                " worth {money}",
                " costing {money}",
                " at {money} damage",
                ", losing {money},",
                " insured for {money}",
            ),
            (
                "The damage is put at {money}.",
                "Repairs would cost {money}.",
                "The insurers speak of {money}.",
            ),
        ),
    ),
)
