"""Event types of sport, weather, prizes and hospitals."""

from brido.corpus.world.events.model import EventType, age, county, day, option
from brido.corpus.world.lexicon import AMOUNT, NUMBER, ORGANISATION, PERSON, TERM, TOWN

MATCH = EventType(
    name="match",
    keys={"player": PERSON, "sport": TERM, "town": TOWN},
    terms={"sport": ("football", "rugby", "hockey", "tennis", "chess", "darts")},
    leads=(
        "{player}[age] has won the final of the {sport} cup for {town}[county].",
        "The team of {town}[county] have won the {sport} cup thanks to {player}[age].",
        "A late effort by {player}[age] has made {town}[county] champions in {sport}.",
        "Fans of {sport} in {town}[county] are cheering {player}[age], who won them the cup.",
    ),
    body=(
        (
            "{player} decided the game with the last move.",
            "It was {player} who made the difference.",
            "{player} had been injured for weeks.",
        ),
        (
            "It was a fine day for {sport}.",
            "Lovers of {sport} will remember this final.",
            "There is a long tradition of {sport} here.",
        ),
        (
            "The team from {town} had lost before.",
            "Nobody had expected {town} to win.",
            "The fans from {town} sang all night.",
        ),
    ),
    options=(
        age("player"),
        county(),
        day(),
        option(
            "number",
            NUMBER,
            (
                " before {number} fans",
                " with {number} watching",
                " for {number} people",
                ", cheered by {number},",
                " as {number} sang",
            ),
            (
                "There were {number} spectators.",
                "The crowd of {number} cheered.",
                "All {number} seats were taken.",
            ),
        ),
        option(
            "sponsor",
            ORGANISATION,
            (
                " at {sponsor}",
                " with {sponsor}",
                " for {sponsor}",
                ", backed by {sponsor},",
                " from {sponsor}",
            ),
            (
                "The cup was given by {sponsor}.",
                "The team is sponsored by {sponsor}.",
                "The shirts carried the name of {sponsor}.",
            ),
        ),
    ),
)

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

AWARD = EventType(
    name="award",
    keys={"winner": PERSON, "art": TERM, "town": TOWN},
    terms={"art": ("poetry", "pottery", "photography", "dance", "cookery", "design")},
    leads=(
        "{winner}[age] from {town}[county] has won this year's national prize for {art}.",
        "A national prize for {art} has gone to {winner}[age], who lives in {town}[county].",
        "{town}[county] is celebrating {winner}[age], the winner of a prize for {art}.",
        "The work of {winner}[age] in {art} has brought a national prize to {town}[county].",
    ),
    body=(
        (
            "{winner} fell in love with {art} as a child.",
            "For {winner} it began with evening classes in {art}.",
            "{winner} has taught {art} for years.",
        ),
        (
            "There will be a party in {town}.",
            "A street in {town} may get a new name.",
            "The library of {town} plans an exhibition.",
        ),
        (
            "The jury praised the courage of {winner_last}.",
            "{winner_last} thanked family and friends.",
            "{winner_last} was speechless at first.",
        ),
    ),
    options=(
        age("winner"),
        county(),
        day(),
        option(
            "number",
            NUMBER,
            (
                " from {number} entries",
                " over {number} others",
                " before {number} guests",
                ", beating {number},",
                " among {number} people",
            ),
            (
                "The jury looked at {number} entries.",
                "There were {number} rivals.",
                "In all {number} people had applied.",
            ),
        ),
        option(
            "money",
            AMOUNT,
            (
                " worth {money}",
                " of {money}",
                " with {money}",
                ", earning {money},",
                " and {money}",
            ),
            (
                "The prize is worth {money}.",
                "A cheque of {money} comes with it.",
                "The money, {money}, will go into a studio.",
            ),
        ),
        option(
            "giver",
            ORGANISATION,
            (
                " from {giver}",
                " by {giver}",
                " at {giver}",
                ", thanking {giver},",
                " through {giver}",
            ),
            (
                "The prize is given by {giver}.",
                "{giver} pays for the award.",
                "The ceremony was held at {giver}.",
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

EVENTS = (MATCH, WEATHER, AWARD, HEALTH)
