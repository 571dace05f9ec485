"""Event types of courts and protests."""

from brido.world.events.model import EventType, age, county, day, option
from brido.world.lexicon import AMOUNT, NUMBER, ORGANISATION, PERSON, TERM, TOWN

COURT = EventType(
    name="court",
    keys={"defendant": PERSON, "offence": TERM, "town": TOWN},
    terms={"offence": ("fraud", "burglary", "arson", "theft", "smuggling", "blackmail")},
    leads=(
        "{defendant}[age] has been jailed for {offence}[money] by a court in {town}[county].",
        "A court in {town}[county] has found {defendant}[age] guilty of {offence}.",
        "A {offence}[money] trial in {town}[county] has ended with prison for {defendant}[age].",
        "{town}[county] is talking about {defendant}[age], who must go to prison for {offence}.",
    ),
    body=(
        (
            "{defendant} stood trial for {offence}.",
            "Prosecutors accused {defendant} of {offence}.",
            "{defendant} was charged with {offence} in the spring.",
        ),
        (
            "The case was heard in {town}.",
            "The judges in {town} took little time to decide.",
            "Nobody spoke in the courtroom in {town}.",
        ),
        (
            "{defendant_last} showed no emotion as the verdict was read.",
            "The lawyer of {defendant_last} plans an appeal.",
            "{defendant_last} was led away to the cells.",
        ),
    ),
    options=(
        age("defendant"),
        county(),
        day(),
        option(
            "money",
            AMOUNT,
            (
                " worth {money}",
                " over {money}",
                " of {money}",
                ", taking {money},",
                " costing {money}",
            ),
            (
                "The damage came to {money}.",
                "The victims lost {money} in all.",
                "The court put the harm done at {money}.",
            ),
        ),
        option(
            "witness",
            PERSON,
            (
                " after {witness} spoke",
                " thanks to {witness}",
                " through {witness}",
                ", betrayed by {witness},",
                " despite {witness}",
            ),
            (
                "{witness} gave evidence at the trial.",
                "The main witness was {witness}.",
                "{witness} told the court what had happened.",
            ),
        ),
    ),
)


PROTEST = EventType(
    name="protest",
    keys={"leader": PERSON, "cause": TERM, "town": TOWN},
    terms={"cause": ("fracking", "parking fees", "pay cuts", "a bypass", "school closures")},
    leads=(
        "{leader}[age] has led a long march against {cause} through {town}[county].",
        "A noisy protest against {cause} in {town}[county] was called by {leader}[age].",
        "People in {town}[county] have joined {leader}[age] to march against {cause}.",
        "The streets of {town}[county] were blocked when {leader}[age] spoke out against {cause}.",
    ),
    body=(
        (
            "Banners against {cause} hung from the windows.",
            "The crowd shouted slogans against {cause}.",
            "Many carried signs that spoke out against {cause}.",
        ),
        (
            "{leader} walked at the front.",
            "{leader} had called for the march.",
            "It was organised by {leader} and a few friends.",
        ),
        (
            "The centre of {town} was full by noon.",
            "Shops in {town} stayed closed.",
            "It ended in the market square of {town}.",
        ),
    ),
    options=(
        age("leader"),
        county(),
        day(),
        option(
            "number",
            NUMBER,
            (
                " with {number} others",
                " and drawn {number}",
                " before {number} people",
                ", bringing {number},",
                " as {number} watched",
            ),
            (
                "Police counted {number} marchers.",
                "About {number} people took part.",
                "The crowd was {number} strong.",
            ),
        ),
        option(
            "target",
            ORGANISATION,
            (
                " outside {target}",
                " near {target}",
                " against {target}",
                ", naming {target},",
                " past {target}",
            ),
            (
                "The march stopped outside {target}.",
                "The anger is aimed at {target}.",
                "{target} kept its doors shut.",
            ),
        ),
    ),
)
