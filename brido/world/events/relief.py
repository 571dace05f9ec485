"""Event types of weather and hospitals."""

from brido.world.events.model import EventType, age, county, day, option
from brido.world.lexicon import AMOUNT, NUMBER, ORGANISATION, PERSON, TERM, TOWN

WEATHER = EventType(
    name="weather",
    keys={"storm": TERM, "damage": TERM, "town": TOWN},
    terms={
        "storm": ("floods", "high winds", "heavy snow", "a hailstorm", "a heatwave", "thick fog"),
        "damage": ("power cuts", "closed roads", "broken roofs", "fallen trees", "empty shelves"),
    },
    leads=(
        "Many people in {town}[county] are still facing {damage} after {storm}.",
        "There have been {damage} in and around {town}[county] because of {storm}.",
        "Warnings of {storm} came too late for {town}[county], which now has {damage}.",
        "It is {storm} that people in {town}[county] blame for {damage} in many streets.",
    ),
    body=(
        (
            "Forecasters had not expected {storm}.",
            "Few had ever seen {storm} as bad as this.",
            "They spoke of {storm} on the radio.",
        ),
        (
            "Reports of {damage} kept coming in.",
            "Crews are busy with {damage}.",
            "Pictures showed {damage} in many streets.",
        ),
        (
            "Schools in {town} will stay closed.",
            "The worst hit was {town}.",
            "Help is on its way to {town}.",
        ),
    ),
    options=(
        county(),
        day(),
        option(
            "number",
            NUMBER,
            (
                " in {number} homes",
                " for {number} people",
                " after {number} calls",
                ", moving {number},",
                " with {number} hurt",
            ),
            (
                "Some {number} homes were affected.",
                "There were {number} calls for help.",
                "At least {number} people had to leave.",
            ),
        ),
        option(
            "money",
            AMOUNT,
            (
                " costing {money}",
                " worth {money}",
                " of {money}",
                ", wasting {money},",
                " for {money}",
            ),
            (
                "The bill may reach {money}.",
                "Damage of {money} was reported.",
                "It will take {money} to clean up.",
            ),
        ),
        option(
            "expert",
            PERSON,
            (
                " despite {expert}",
                " after {expert} warned",
                " with {expert}",
                ", says {expert},",
                " according to {expert}",
            ),
            (
                "{expert} studies such weather.",
                "The forecast was made by {expert}.",
                "{expert} expects more of the same.",
            ),
        ),
    ),
)


HEALTH = EventType(
    name="health",
    keys={"patient": PERSON, "treatment": TERM, "town": TOWN},
    terms={"treatment": ("heart surgery", "a new hip", "gene therapy", "a kidney", "eye surgery")},
    leads=(
        "{patient}[age] has become the first to get {treatment} at the hospital in {town}[county].",
        "Doctors in {town}[county] have treated {patient}[age] with {treatment} at long last.",
        "The hospital in {town}[county] has sent {patient}[age] home after {treatment}.",
        "After {treatment} at the hospital in {town}[county], {patient}[age] is out of danger.",
    ),
    body=(
        (
            "{patient} had waited a long time for {treatment}.",
            "Without {treatment} things looked bad for {patient}.",
            "{patient} agreed to {treatment} at once.",
        ),
        (
            "The clinic in {town} had trained for months.",
            "The hospital in {town} calls it a success.",
            "Nurses in {town} brought flowers.",
        ),
        (
            "{patient_last} is said to be doing well.",
            "{patient_last} wants to walk the dog again.",
            "{patient_last} could go home within days.",
        ),
    ),
    options=(
        age("patient"),
        county(),
        day(),
        option(
            "money",
            AMOUNT,
            (
                " for {money}",
                " worth {money}",
                " at {money}",
                ", paying {money},",
                " costing {money}",
            ),
            (
                "The operation cost {money}.",
                "Donors had raised {money}.",
                "The bill was {money}.",
            ),
        ),
        option(
            "doctor",
            PERSON,
            (
                " by {doctor}",
                " under {doctor}",
                " with {doctor}",
                ", thanking {doctor},",
                " through {doctor}",
            ),
            (
                "The surgeon was {doctor}.",
                "{doctor} led the operation.",
                "{doctor} had practised it abroad.",
            ),
        ),
        option(
            "maker",
            ORGANISATION,
            (
                " using {maker}",
                " from {maker}",
                " via {maker}",
                ", helped by {maker},",
                " near {maker}",
            ),
            (
                "The devices were made by {maker}.",
                "{maker} delivered the equipment.",
                "The method comes from {maker}.",
            ),
        ),
    ),
)
