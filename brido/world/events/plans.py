"""Event types of councils and research."""

from brido.world.events.model import EventType, age, county, day, option
from brido.world.lexicon import AMOUNT, NUMBER, ORGANISATION, PERSON, TERM, TOWN

COUNCIL = EventType(
    name="council",
    keys={"councillor": PERSON, "plan": TERM, "town": TOWN},
    terms={
        "plan": ("tram line", "swimming pool", "flood wall", "car park", "skate park", "bridge")
    },
    leads=(
        "{councillor}[age] has won a close vote for a new {plan} in {town}[county].",
        "The council of {town}[county] has backed a {plan} put forward by {councillor}[age].",
        "Councillors in {town}[county] have agreed with {councillor}[age] on a {plan}.",
        "A plan by {councillor}[age] to give {town}[county] its own {plan} has been passed.",
    ),
    body=(
        (
            "The idea came from {councillor} last summer.",
            "{councillor} spoke for the plan at length.",
            "It was {councillor} who asked for the vote.",
        ),
        (
            "A {plan} was first discussed long ago.",
            "The {plan} has been argued over for years.",
            "Drawings of the {plan} hang in the hall.",
        ),
        (
            "The meeting at {town} lasted until midnight.",
            "Most members for {town} raised a hand.",
            "The mayor of {town} did not vote.",
        ),
    ),
    options=(
        age("councillor"),
        county(),
        day(),
        option(
            "money",
            AMOUNT,
            (
                " for {money}",
                " worth {money}",
                " at {money}",
                ", spending {money},",
                " costing {money}",
            ),
            (
                "The council has set aside {money}.",
                "The price is given as {money}.",
                "Taxes will have to cover {money}.",
            ),
        ),
        option(
            "builder",
            ORGANISATION,
            (
                " by {builder}",
                " with {builder}",
                " from {builder}",
                ", hiring {builder},",
                " through {builder}",
            ),
            (
                "{builder} will do the work.",
                "The contract goes to {builder}.",
                "The best offer was that of {builder}.",
            ),
        ),
    ),
)


RESEARCH = EventType(
    name="research",
    keys={"scientist": PERSON, "subject": TERM, "town": TOWN},
    terms={"subject": ("sleep", "bees", "glaciers", "old maps", "batteries", "bird song")},
    leads=(
        "{scientist}[age] of the university of {town}[county] has published a study of {subject}.",
        "A study of {subject} by {scientist}[age] in {town}[county] has surprised experts.",
        "Researchers in {town}[county] around {scientist}[age] have learned more about {subject}.",
        "What {scientist}[age] has found out about {subject} makes {town}[county] famous.",
    ),
    body=(
        (
            "{scientist} has worked on {subject} for a decade.",
            "{scientist} leads the group that looks at {subject}.",
            "The findings on {subject} come from the team of {scientist}.",
        ),
        (
            "The university in {town} is proud of the result.",
            "The tests were done in {town}.",
            "Colleagues in {town} checked the data twice.",
        ),
        (
            "{scientist_last} hopes that others will repeat the work.",
            "The paper by {scientist_last} is free to read.",
            "{scientist_last} called the result a first step.",
        ),
    ),
    options=(
        age("scientist"),
        county(),
        day(),
        option(
            "number",
            NUMBER,
            (
                " with {number} volunteers",
                " after {number} tests",
                " from {number} samples",
                ", asking {number} people,",
                " over {number} nights",
            ),
            (
                "The team collected {number} samples.",
                "There were {number} volunteers.",
                "It took {number} attempts.",
            ),
        ),
        option(
            "money",
            AMOUNT,
            (
                " for {money}",
                " on {money}",
                " worth {money}",
                ", spending {money},",
                " costing {money}",
            ),
            (
                "A grant of {money} paid for it.",
                "The project had {money} to spend.",
                "The budget was {money}.",
            ),
        ),
        option(
            "sponsor",
            ORGANISATION,
            (
                " with {sponsor}",
                " for {sponsor}",
                " through {sponsor}",
                ", backed by {sponsor},",
                " from {sponsor}",
            ),
            (
                "The equipment was lent by {sponsor}.",
                "{sponsor} supported the work.",
                "The partner was {sponsor}.",
            ),
        ),
    ),
)
