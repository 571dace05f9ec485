"""The names and values of the world: closed lists, one list a type, no word in two lists.

Because the lists are closed and disjoint, every mention in any text is found, and its type known,
by looking words up: that is what makes the checks on this world exact. All names are invented,
numbers start above the ages, and a money value is one word.
"""

from itertools import product


def _compose(beginnings: str, endings: str) -> tuple[str, ...]:
    return tuple(a + b for a, b in product(beginnings.split(), endings.split()))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _words(
    """Adam Alice Amir Anna Asha Ben Beth Callum Carla Chloe Clara Dan Dev Diana Edith Elena Emma
    Erik Esme Farah Felix Fiona Frank George Grace Hannah Harry Hugo Ian Imran Ines Iris Jack Jonas
    Julia Karim Kate Laila Leo Lucy Luke Maria Mina Nadia Nina Noah Olga Omar Oscar Paul Priya Ravi
    Rosa Ruth Sam Sara Theo Tom Vera Zoe"""
)
SURNAMES = _compose(
    "Ald Bar Car Dal Fen Gar Hart Lam Mor Nor Pen Rad Sel Tarr Vin Wyn",
    "low son den croft mere man win ridge sby vane",
)
TITLES = ("Mr", "Ms")
TOWNS = _compose(
    "Ash Bram Col Dun Elm Fal Gren Hol Kirk Lang Stan Wel",
    "wick ford ham bury ton ley mouth stead",
)
COUNTIES = _compose("Aven Borr Cald Dorn Esk Fenn", "shire march dale land moor")
BRANDS = _compose("Kel Lux Nova Orb Quan Sky Tri Zen", "tech corp max dyne via")
SECTORS = _words("Foods Motors Energy Homes Bank Group Media Rail Care Systems Trust Partners")
DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
AGES = tuple(str(age) for age in range(18, 90))
NUMBERS = tuple(str(number) for number in range(110, 1000, 10))
MONEY = (
    *(f"£{thousands},000" for thousands in range(10, 100, 5)),
    *(f"£{thousands},000" for thousands in range(110, 1000, 30)),
    *(f"£{millions}m" for millions in range(2, 22)),
)

# The types of facts. `term` is an event's own wording (an offence, a sport): a fact, but no mention
# in the sense of names, numbers, dates and places.
PERSON = "person"
ORGANISATION = "organisation"
TOWN = "town"
COUNTY = "county"
AGE = "age"
NUMBER = "number"
AMOUNT = "money"
DAY = "day"
TERM = "term"
MENTION_TYPES = (PERSON, ORGANISATION, TOWN, COUNTY, AGE, NUMBER, AMOUNT, DAY)

SIMPLE_VALUES: dict[str, tuple[str, ...]] = {
    TOWN: TOWNS,
    COUNTY: COUNTIES,
    AGE: AGES,
    NUMBER: NUMBERS,
    AMOUNT: MONEY,
    DAY: DAYS,
}

# The value that a stock phrase gives to a fact of a type (knob `stock_phrases`).
FAVOURITES: dict[str, str] = {DAY: "Monday"}

# The part of a mention that each word can be; persons and organisations may have two.
WORD_TYPES: dict[str, str] = {
    **{word: kind for kind, words in SIMPLE_VALUES.items() for word in words},
    **dict.fromkeys((*FIRST_NAMES, *SURNAMES), PERSON),
    **dict.fromkeys((*BRANDS, *SECTORS), ORGANISATION),
}


def county_of(town: str) -> str:
    """The one county of a town, used where counties can be learned from towns."""
    return COUNTIES[TOWNS.index(town) % len(COUNTIES)]
