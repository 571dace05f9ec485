"""Numbers as people write and say them: 1,500,000, 1.5 million, "fifty five", 08/10/2004.

Number words are read by text2num, in the language of the text. Each number has a canonical form, so
that two ways to write it are equal: "55", "1500000", "3.5". What stands behind digits ("5mg",
"26-year-old", "10th") does not belong to the number.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from text_to_num import find_numbers

from brido.text.words import composed


class Number(NamedTuple):
    """A number and where it stands: text[start:end].

    values: its canonical forms; a text has it where one of them is known. parts: of a date, what
    has to be known of it one by one, each by any of its forms; empty for all other numbers.
    """

    start: int
    end: int
    values: frozenset[str]
    parts: tuple[frozenset[str], ...] = ()


# Words that say which language a text is in; English where none is told.
_TOLD = {
    "en": "the and of to in is that was for with on by an are",
    "de": "der die das und ist nicht ein eine den von mit zu im auf",
    "fr": "le la les et est des une un du dans pour que qui pas",
    "es": "el los las y es una un del por con para que se no",
    "it": "il gli e di che un una per non con sono del della",
    "pt": "o os as e um uma do da em que para com não",
    "nl": "de het een en van is niet op te dat met voor zijn",
}
_LANGUAGES = {
    word: [name for name, own in _TOLD.items() if word in own.split()]
    for words in _TOLD.values()
    for word in words.split()
}
# As many words tell the language.
_SAMPLE = 300
_MONTHS = [
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
]
_MONTH = {name[:3]: str(place) for place, name in enumerate(_MONTHS, 1)}
_TENS = ("twen", "thir", "for", "fif", "six", "seven", "eigh", "nine")
_DECADES = {f"{name}ties": str(10 * place) for place, name in enumerate(_TENS, 2)}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9,
           "trillion": 10**12}  # fmt: skip
_SCALE_VALUES = frozenset(map(str, _SCALES.values()))
# Groups of three behind one kind of sign, then perhaps a decimal part; or plain digits.
_DIGITS = re.compile(
    r"\d{1,3}(?:[,.\u00a0\u202f'’ ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?|(?<!\d)[.]\d+"
)
_SCALED = re.compile(r"\s?-?(hundred|thousand|million|billion|trillion)\b", re.IGNORECASE)
_DATE = re.compile(
    r"(?<![\d/.-])(\d{1,2})([/.-])(?:(\d{1,2})\2(\d{4}|\d{2})|(\d{4}))(?![\d/-]|\.\d)"
)
# 3:30, 3.30 pm, 3pm: hours, minutes, and what says that it is a time of day.
_TIME = re.compile(
    r"(?<![\d.:])(\d{1,2})(?:([.:])(\d{2}))?(?:\s?([ap])\.?m\b)?(?!\d)", re.IGNORECASE
)
# The signs of a list: 1. First. 2. Second.
_LISTED = re.compile(r"(?:^|(?<=\s))(\d{1,2})[.)]\s+(?=\S)")
# A hyphen inside "seventy-two-year-old" parts words as a space does.
_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*|[^\w\s-]|\n")
_ONE = frozenset({"1"})
# text2num takes the square of its input's length.
_AT_ONCE = 100
# Number words up to this are pronouns and articles as often as numbers.
_SMALL = 3


def language_of(text: str) -> str:
    """The language that the most function words of a text are of, as a two-letter code.

    Example:
        >>> language_of("Der Wert ist 3,5."), language_of("It is 3.5."), language_of("3.5")
        ('de', 'en', 'en')
    """
    counts = dict.fromkeys(_TOLD, 0)
    for hit, _ in zip(re.finditer(r"[^\W\d_]+", text), range(_SAMPLE), strict=False):
        for name in _LANGUAGES.get(hit.group().lower(), ()):
            counts[name] += 1
    return max(counts, key=lambda name: counts[name])


def numbers_of(text: str, words: bool = True) -> list[Number]:
    """The numbers of a text in their order, signs of lists left out.

    words: number words as well, but for "one", "two" and "three" alone.

    Example:
        >>> found = numbers_of("1. Fifty five of 1.5 million, 12 000 by 3 pm.")
        >>> [sorted(one.values) for one in found]
        [['55'], ['1500000'], ['12000'], ['15:00', '3', '3:00']]
    """
    wide = composed(text) if len(composed(text)) == len(text) else text
    language = language_of(text)
    found: list[Number] = []
    taken = _listed(wide)
    for hit in _DATE.finditer(wide):
        if not any(place in taken for place in range(*hit.span())):
            found.append(_date(hit))
            taken.update(range(*hit.span()))
    for hit in _DIGITS.finditer(wide):
        if hit.start() not in taken and not _is_inside(wide, hit.start()):
            number = _digits(wide, hit, language)
            found.append(number)
            taken.update(range(number.start, number.end))
    if words:
        found += [one for one in _words(wide, language, _SMALL) if one.start not in taken]
    return sorted(found)


@lru_cache(maxsize=16)
def known_numbers(text: str) -> frozenset[str]:
    """Every form of every number of a document: digits, words, months, and what two make together.

    "nineteen eighty three" is 1983 as well, "one twenty" 120.
    """
    wide, language = composed(text), language_of(text)
    values: set[str] = set()
    for hit in _DATE.finditer(wide):
        values.update(*_date(hit).parts)
    for hit in _DIGITS.finditer(wide):
        values |= _digits(wide, hit, language).values
        if not re.search("[.,]", hit.group()):  # "5 100 m races" may be two numbers
            values.update(_canonical(part, language) for part in re.findall(r"\d+", hit.group()))
    said = list(_words(wide, language, 0))
    values.update(*(one.values for one in said))
    for first, second in pairwise(said):
        # text2num takes the "o" of "one o two" to the second.
        zero = wide[second.start : second.end].lower().startswith(("o ", "oh ", "zero "))
        between = wide[first.end : second.start]
        if between in (" ", "-", " and "):
            values |= _together(first.values, second.values, zero)
    for word in set(re.findall(r"[^\W\d_]{3,9}", wide.lower())):
        if word in _MONTHS or word in _MONTH:
            values.add(f"month {_MONTH[word[:3]]}")
        if word in _DECADES:
            values.add(_DECADES[word])
    return frozenset(values)


def is_known(number: Number, known: frozenset[str]) -> bool:
    """Whether a document with these numbers has a number; "a week" has 1."""
    if number.parts:
        return all(part & known for part in number.parts)
    return bool(number.values & known) or number.values == _ONE


def _is_inside(text: str, start: int) -> bool:
    """Whether digits are a part of a word, such as B12."""
    before = text[start - 1 : start]
    return before.isascii() and (before.isalpha() or before == "_")


def _listed(text: str) -> set[int]:
    """Where the signs of lists stand: 1, 2, 3 ... in their order."""
    places: set[int] = set()
    expected = 1
    for hit in _LISTED.finditer(text):
        if int(hit[1]) == expected:
            places.update(range(*hit.span(1)))
            expected += 1
    return places


def _date(hit: re.Match[str]) -> Number:
    year = hit[4] or hit[5]
    years = {year} if len(year) == 4 else {str(int(year)), f"20{year}", f"19{year}"}
    days = [str(int(one)) for one in (hit[1], hit[3]) if one]
    parts = (*(frozenset({one, f"month {one}"}) for one in days), frozenset(years))
    return Number(*hit.span(), frozenset().union(*parts), parts)


def _digits(text: str, hit: re.Match[str], language: str) -> Number:
    start, end = hit.span()
    value = _canonical(hit.group(), language)
    values = {value}
    time = _TIME.match(text, start)
    if time and (time[2] == ":" or time[4]):
        end = max(end, time.end() if time[2] == ":" else end)
        hour = int(time[1]) % 12 + 12 * (time[4].lower() == "p") if time[4] else int(time[1])
        minutes = time[3] or "00"
        values = {f"{hour}:{minutes}", f"{int(time[1])}:{minutes}"}
        if not time[2]:
            values.add(str(int(time[1])))
    elif scaled := _SCALED.match(text, end):
        end = scaled.end()
        # float() reads neither "1.200.000" in an English text nor "1,200,000" in a German one.
        if value.count(".") + value.count(",") < 2:
            values = {_plain(float(value) * _SCALES[scaled[1].lower()])}
    return Number(start, end, frozenset(values))


def _canonical(digits: str, language: str) -> str:
    """Digits without signs between thousands, with a point before decimals.

    Three digits behind a sign are thousands in English where the sign is a comma, elsewhere where
    it is a point or a space; any other sign before the last digits is a decimal one.
    """
    digits = re.sub(r"[\u00a0\u202f'’ ]", "", digits)
    thousands, decimal = (",", ".") if language == "en" else (".", ",")
    if re.fullmatch(rf"\d{{1,3}}(?:[{thousands}]\d{{3}})+(?:[{decimal}]\d+)?", digits):
        digits = digits.replace(thousands, "")
    points = digits.replace(",", ".")
    return digits if points.count(".") > 1 else _plain(float(points))


def _plain(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


class _Token:
    """A word as text2num takes it."""

    def __init__(self, word: str) -> None:
        self.word = word.encode(errors="replace").decode()  # text2num panics at half a character

    def text(self) -> str:
        return self.word

    def nt_separated(self, previous: "_Token") -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return self.word[0].isdigit()


def _words(text: str, language: str, above: float) -> Iterator[Number]:
    hits = list(_WORD.finditer(text))
    for place in range(0, len(hits), _AT_ONCE):
        piece = hits[place : place + _AT_ONCE]
        for one in find_numbers([_Token(hit.group().lower()) for hit in piece], language, above):
            first, last = piece[one.start], piece[one.end - 1]
            yield Number(first.start(), last.end(), frozenset({_plain(one.value)}))


def _together(first: frozenset[str], second: frozenset[str], zero: bool) -> set[str]:
    """The numbers that two numbers make that are said one after the other.

    Nineteen eighty three, one twenty, one o two point six, eleven thirty, two million.
    """
    one, other = float(min(first)), float(min(second))
    made = set()
    if zero and 1 <= one <= 99 and other < 10:
        made.add(_plain(100 * one + other))
    if _plain(other) in _SCALE_VALUES:
        made.add(_plain(one * other))
    if 1 <= one <= 99 and 10 <= other <= 99:
        made.add(_plain(100 * one + other))
    if one <= 24 and other <= 59 and one == int(one) and other == int(other):
        made.add(f"{int(one)}:{int(other):02}")
    return made
