"""Names, numbers, dates and places of a text that its source does not have.

The idea is the precision of named entities against the source (Nan et al. 2021). On the embedded
world it is exact: every mention is found and the facts say what the document has. On any other text
it is an approximation without a model: numbers and runs of capitalised words, looked up in the
source. In both cases a mention counts as supported wherever in the source it stands: a summary
that gives one person's age to another is not caught here (on the world, world_judge catches it).
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple

from brido.utils.text import UNSEEN, composed, split_sentences, without_unseen
from brido.world import reading


class Mention(NamedTuple):
    """A mention of a summary: its words without possessives, and where summary[start:end] has them.

    supported: whether the source has it.
    """

    type: str
    text: str
    supported: bool
    start: int
    end: int


# A number of a document may stand inside a word; one of a summary is a part of that word's name.
_DIGITS = r"\d+(?:[.,:]\d+)*[a-z]*"
_ANY_NUMBER, _NUMBER = re.compile(_DIGITS), re.compile(rf"(?<![A-Za-z0-9_]){_DIGITS}")
# 3:30, 3.30 pm, 3pm: hours, minutes, and what says that it is a time of day.
_TIME = re.compile(r"(\d{1,2})(?:([.:])(\d{2}))?(?:\s?([ap])\.?m\b)?")
# Names that hide a name, as of anonymised dialogues: #Person1#, [NAME], <LOCATION_2>.
_PLACEHOLDER = re.compile(r"#\w+#|\[[A-Z][A-Z0-9_]*\]|<[A-Z][A-Z0-9_]*>")
# Letters may be followed by their accents (NFD, as macOS writes), and hold what does not show.
_LETTERS = rf"\w[\w\u0300-\u036f{UNSEEN}]*"
# The speaker of a turn, at its start: "Anna: It rains."
_SPEAKER = re.compile(rf"({_LETTERS}):(?=\s)")
_WORD = re.compile(rf"{_LETTERS}(?:[-\u2010\u2011'’.&]{_LETTERS})*")
# A model may write O'Brien where a typesetter wrote O’Brien, and other hyphens likewise.
_TYPESET = str.maketrans({"\u2010": "-", "\u2011": "-", "’": "'"})
# The pronoun, not the number in "Elizabeth I".
_PRONOUN = re.compile(r"I(['’]\w+)?")
_POSSESSIVE = re.compile(r"['’]s$")
# A capital at the start of a sentence says nothing about these; they never start a name there.
_FUNCTION_WORDS = frozenset(
    """a an the this that these those he she it they we you i his her its their our your my in on at
    by for from to of with after before as when while if but and or so because although there here
    what who where why how not no one two three four five six seven eight nine ten""".split()  # noqa: SIM905
)


def mentions_of(
    document: str, text: str, facts: list[dict[str, Any]] | None, case_sensitive: bool
) -> list[Mention]:
    """The mentions of a text: exact by the facts of the world, if there are any."""
    if facts is not None:
        return world_mentions(text, facts)
    return text_mentions(document, text, case_sensitive)


def world_mentions(summary: str, facts: list[dict[str, Any]]) -> list[Mention]:
    """Every mention of a summary of the world, and whether the document has it: exact."""
    present = [(fact["type"], fact["value"]) for fact in facts if fact["in_document"]]
    found = []
    for one in reading.mentions(summary):
        supported = any(
            kind == one.type and reading.supports(value, one.value) for kind, value in present
        )
        found.append(Mention(one.type, one.value, supported, one.start, one.end))
    return found


def text_mentions(document: str, summary: str, case_sensitive: bool) -> list[Mention]:
    """Return the numbers and capitalised spans of any summary, and whether the document has them.

    A number is supported when the document has the same digits, thousands separators aside, or the
    same time of day ("3.30 pm" is 3:30). A span is supported when its words stand in the document
    one after the other, however accents, ligatures and hyphens are encoded. A placeholder such as
    #Person1# is one name. The first word of a sentence is a name if it is one elsewhere in the text
    or the document.
    """
    source = _read_source(document, case_sensitive)
    fold = _fold if case_sensitive else _fold_case
    found = [
        Mention("name", hit.group(), fold(hit.group()) in source.placeholders, *hit.span())
        for hit in _PLACEHOLDER.finditer(summary)
    ]
    # What is hidden keeps its place, as a word without a capital.
    rest = _PLACEHOLDER.sub(lambda hit: "x" * len(hit.group()), summary)
    found += [
        Mention("number", hit.group(), bool(_values(rest, hit) & source.numbers), *hit.span())
        for hit in _NUMBER.finditer(rest)
    ]
    names = source.names | _names_inside(summary, rest)
    for sentence, position in _sentences(summary, rest):
        for words, start, end in capitalised_spans(sentence, names):
            supported = f" {fold(words)} " in source.words
            found.append(Mention("name", words, supported, position + start, position + end))
    return found


class _Source(NamedTuple):
    """What a document has: its words in a row, its numbers, placeholders, and names inside it."""

    words: str
    numbers: frozenset[str]
    placeholders: frozenset[str]
    names: frozenset[str]


# Candidates of a document are looked up one after the other.
@lru_cache(maxsize=16)
def _read_source(document: str, case_sensitive: bool) -> _Source:
    fold = _fold if case_sensitive else _fold_case
    hidden = _PLACEHOLDER.findall(document)
    rest = _PLACEHOLDER.sub(lambda hit: "x" * len(hit.group()), document)
    numbers = {value for hit in _ANY_NUMBER.finditer(document) for value in _values(document, hit)}
    speakers = {_fold(hit[1]) for hit in _SPEAKER.finditer(rest) if hit[1][0].isupper()}
    return _Source(
        " " + " ".join(_plain(fold(word)) for word in _WORD.findall(document)) + " ",
        frozenset(numbers),
        frozenset(map(fold, hidden)),
        frozenset(speakers | _names_inside(document, rest)),
    )


def _values(text: str, hit: re.Match[str]) -> set[str]:
    """A number's digits, and, where it is a time of day, hours and minutes."""
    # Digits of full width, as Chinese and Japanese texts have them, are digits.
    values = {composed(hit.group()).replace(",", "")}
    time = _TIME.match(text, hit.start())
    if time and time.end() >= hit.end() and (time[2] == ":" or time[4]):
        values.add(f"{int(time[1])}:{composed(time[3] or '00')}")
        if time[4]:
            values.add(hit.group().rstrip("apm"))
    return values


def _names_inside(text: str, rest: str) -> frozenset[str]:
    """The words of names that do not begin a sentence: elsewhere a capital says nothing."""
    return frozenset(
        word
        for sentence, _ in _sentences(text, rest)
        for words, start, _ in capitalised_spans(sentence)
        if start
        for word in _fold(words).split()
    )


def _sentences(text: str, rest: str) -> list[tuple[str, int]]:
    """The sentences of a text with their places; `rest` is the text without its placeholders."""
    position, found = 0, []
    for sentence in split_sentences(text):
        position = text.index(sentence, position)
        found.append((rest[position : position + len(sentence)], position))
        position += len(sentence)
    return found


def capitalised_spans(
    sentence: str, names: frozenset[str] = frozenset()
) -> list[tuple[str, int, int]]:
    """Return the runs of capitalised words: (words without possessives, start, end).

    The first word of every sentence is capitalised. A function word is cut off there, and a run
    that is only that one word is left out, unless it is one of `names` (as `_fold` has them). The
    pronoun I is none.
    """
    spans: list[tuple[str, int, int]] = []
    run: list[re.Match[str]] = []
    starts_sentence = False
    for position, word in enumerate(_WORD.finditer(sentence)):
        joined = bool(run) and sentence[run[-1].end() : word.start()] == " "
        pronoun = _PRONOUN.fullmatch(word.group())
        capital = word.group()[0].isupper() and not (pronoun and (pronoun[1] or not joined))
        if run and not (capital and joined):
            spans += _span(run, starts_sentence, names)
            run = []
        if capital:
            starts_sentence = position == 0 if not run else starts_sentence
            run.append(word)
    return spans + _span(run, starts_sentence, names)


def _span(
    run: list[re.Match[str]], starts_sentence: bool, names: frozenset[str]
) -> list[tuple[str, int, int]]:
    words = [_plain(word.group()) for word in run]
    first = 0
    if starts_sentence:
        while first < len(run) and words[first].lower() in _FUNCTION_WORDS:
            first, starts_sentence = first + 1, False
        if starts_sentence and len(run) == 1 and _fold(words[0]) not in names:
            return []
    if first == len(run):
        return []
    return [(" ".join(words[first:]), run[first].start(), run[-1].start() + len(words[-1]))]


def _fold(words: str) -> str:
    if words.isascii():
        return words
    return without_unseen(composed(words)).translate(_TYPESET)


def _fold_case(words: str) -> str:
    return _fold(words.lower())


def _plain(word: str) -> str:
    return _POSSESSIVE.sub("", word)
