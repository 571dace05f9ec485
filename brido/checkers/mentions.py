"""Names, numbers, dates and places of a text that its source does not have.

The idea is the precision of named entities against the source (Nan et al. 2021). On the embedded
world it is exact: every mention is found and the facts say what the document has. On any other text
it is an approximation without a model: numbers and runs of capitalised words, looked up in the
source. In both cases a mention counts as supported wherever in the source it stands: a summary
that gives one person's age to another is not caught here (on the world, world_judge catches it).
"""

import re
from typing import Any, NamedTuple

from brido.utils.text import split_sentences
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


_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*[a-z]*")
_WORD = re.compile(r"\w+(?:[-'’.&]\w+)*")
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

    A number is supported when the document has the same digits (thousands separators aside), a
    span when its words stand in the document one after the other.
    """
    fold = str if case_sensitive else str.lower
    source = " " + " ".join(_plain(fold(word)) for word in _WORD.findall(document)) + " "
    digits = {number.replace(",", "") for number in _NUMBER.findall(document)}
    found = [
        Mention("number", hit.group(), hit.group().replace(",", "") in digits, *hit.span())
        for hit in _NUMBER.finditer(summary)
    ]
    position = 0
    for sentence in split_sentences(summary):
        position = summary.index(sentence, position)
        for words, start, end in capitalised_spans(sentence):
            supported = f" {fold(words)} " in source
            found.append(Mention("name", words, supported, position + start, position + end))
        position += len(sentence)
    return found


def capitalised_spans(sentence: str) -> list[tuple[str, int, int]]:
    """Return the runs of capitalised words: (words without possessives, start, end).

    The first word of every sentence is capitalised. A function word is cut off there, and a run
    that is only that one word is left out.
    """
    spans: list[tuple[str, int, int]] = []
    run: list[re.Match[str]] = []
    starts_sentence = False
    for position, word in enumerate(_WORD.finditer(sentence)):
        capital = word.group()[0].isupper()
        joined = bool(run) and sentence[run[-1].end() : word.start()] == " "
        if run and not (capital and joined):
            spans += _span(run, starts_sentence)
            run = []
        if capital:
            starts_sentence = position == 0 if not run else starts_sentence
            run.append(word)
    return spans + _span(run, starts_sentence)


def _span(run: list[re.Match[str]], starts_sentence: bool) -> list[tuple[str, int, int]]:
    words = [_plain(word.group()) for word in run]
    first = 0
    if starts_sentence:
        while first < len(run) and words[first].lower() in _FUNCTION_WORDS:
            first, starts_sentence = first + 1, False
        if starts_sentence and len(run) == 1:
            return []
    if first == len(run):
        return []
    return [(" ".join(words[first:]), run[first].start(), run[-1].start() + len(words[-1]))]


def _plain(word: str) -> str:
    return _POSSESSIVE.sub("", word)
