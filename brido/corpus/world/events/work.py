"""Event types of companies, councils, research and transport."""

from brido.corpus.world.events.model import EventType, age, county, day, option
from brido.corpus.world.lexicon import AMOUNT, NUMBER, ORGANISATION, PERSON, TERM, TOWN

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

EVENTS = (BUSINESS, COUNCIL, RESEARCH, TRANSPORT)
