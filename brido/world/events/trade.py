"""Event types of companies and transport."""

from brido.world.events.model import EventType, county, day, option
from brido.world.lexicon import AMOUNT, NUMBER, ORGANISATION, PERSON, TERM, TOWN

BUSINESS = EventType(
    name="business",
    keys={"company": ORGANISATION, "site": TERM, "town": TOWN},
    terms={"site": ("factory", "call centre", "depot", "laboratory", "shop", "data centre")},
    leads=(
        "{company} has said that it will open a {site} in {town}[county].",
        "A new {site} that belongs to {company} will be built in {town}[county].",
        "Plans by {company} for a {site} in {town}[county] have been agreed.",
        "{town}[county] has been chosen by {company} as the home of its next {site}.",
    ),
    body=(
        (
            "{company} has looked for land since last year.",
            "The board of {company} voted for the plan.",
            "{company} wants to grow in the region.",
        ),
        (
            "The {site} should be ready in spring.",
            "Work on the {site} starts soon.",
            "A model of the {site} is on show.",
        ),
        (
            "Shopkeepers in {town} welcomed the news.",
            "It will stand on the edge of {town}.",
            "Some people in {town} fear more traffic.",
        ),
    ),
    options=(
        county(),
        day(),
        option(
            "number",
            NUMBER,
            (
                " with {number} jobs",
                " for {number} workers",
                " and hire {number}",
                ", needing {number} people,",
                " to employ {number}",
            ),
            (
                "It will bring {number} jobs.",
                "The firm is looking for {number} people.",
                "A staff of {number} will be trained.",
            ),
        ),
        option(
            "money",
            AMOUNT,
            (
                " for {money}",
                " at {money}",
                " worth {money}",
                ", spending {money},",
                " costing {money}",
            ),
            (
                "The investment comes to {money}.",
                "It will cost {money} to build.",
                "The firm is spending {money}.",
            ),
        ),
        option(
            "manager",
            PERSON,
            (
                " under {manager}",
                " with {manager}",
                " through {manager}",
                ", says {manager},",
                " led by {manager}",
            ),
            (
                "{manager} will be in charge.",
                "It will be run by {manager}.",
                "The firm has made {manager} its local head.",
            ),
        ),
    ),
)


TRANSPORT = EventType(
    name="transport",
    keys={"operator": ORGANISATION, "service": TERM, "town": TOWN},
    terms={"service": ("night train", "ferry", "airport bus", "bike scheme", "coach", "tram")},
    leads=(
        "{operator} has announced that it will stop its {service} in {town}[county].",
        "The {service} in {town}[county] is to be cut by {operator}.",
        "Passengers in {town}[county] are to lose the {service} run by {operator}.",
        "There will soon be no {service} in {town}[county] after a decision by {operator}.",
    ),
    body=(
        (
            "{operator} blames low demand.",
            "The decision by {operator} was not expected.",
            "{operator} wrote to its customers.",
        ),
        (
            "The {service} had run for many years.",
            "Fewer people used the {service} last winter.",
            "The {service} was often late.",
        ),
        (
            "Many in {town} depend on it.",
            "Commuters in {town} are angry.",
            "The mayor of {town} wants to save it.",
        ),
    ),
    options=(
        county(),
        day(),
        option(
            "number",
            NUMBER,
            (
                " used by {number}",
                " with {number} riders",
                " despite {number} users",
                ", stranding {number},",
                " after {number} complaints",
            ),
            (
                "Some {number} riders used it daily.",
                "It carried {number} people a day.",
                "There were {number} regular users.",
            ),
        ),
        option(
            "money",
            AMOUNT,
            (
                " over {money}",
                " to save {money}",
                " for {money}",
                ", losing {money},",
                " after {money} losses",
            ),
            (
                "It made a loss of {money}.",
                "The move saves {money}.",
                "Running it cost {money} a year.",
            ),
        ),
        option(
            "spokesman",
            PERSON,
            (
                " through {spokesman}",
                " after {spokesman} spoke",
                " despite {spokesman}",
                ", says {spokesman},",
                " with {spokesman}",
            ),
            (
                "{spokesman} spoke for the operator.",
                "The news was broken by {spokesman}.",
                "{spokesman} answered questions for an hour.",
            ),
        ),
    ),
)
