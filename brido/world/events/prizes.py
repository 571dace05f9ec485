"""Event types of sport and prizes."""

from brido.world.events.model import EventType, age, county, day, option
from brido.world.lexicon import AMOUNT, NUMBER, ORGANISATION, PERSON, TERM, TOWN

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
