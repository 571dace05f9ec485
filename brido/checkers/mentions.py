"""Names, numbers, dates and places of a text that its source does not have.

The idea is the precision of named entities against the source (Nan et al. 2021). On the embedded
world it is exact: every mention is found and the facts say what the document has. On any other text
it is an approximation without a model: numbers and runs of capitalised words, looked up in the
source. In both cases a mention counts as supported wherever in the source it stands: a summary
that gives one person's age to another is not caught here (on the world, world_judge catches it).
"""

import re
from typing import Any

from brido.utils.text import split_sentences
from brido.world import reading

Found = tuple[str, str, bool]  # type, text, supported

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*[a-z]*")
_WORD = re.compile(r"\w+(?:[-'’.&]\w+)*")
_POSSESSIVE = re.compile(r"['’]s$")
# A capital at the start of a sentence says nothing about these; they never start a name there.
_FUNCTION_WORDS = frozenset(
    """a an the this that these those he she it they we you i his her its their our your my in on at
    by for from to of with after before as when while if but and or so because although there here
    what who where why how not no one two three four five six seven eight nine ten""".split()  # noqa: SIM905
)


def world_mentions(summary: str, facts: list[dict[str, Any]]) -> list[Found]:
    """Every mention of a summary of the world, and whether the document has it: exact."""
    present = [fact for fact in facts if fact["in_document"]]
    return [
        (
            mention.type,
            mention.value,
            any(
                fact["type"] == mention.type and reading.supports(fact["value"], mention.value)
                for fact in present
            ),
        )
        for mention in reading.mentions(summary)
    ]


def text_mentions(document: str, summary: str, case_sensitive: bool) -> list[Found]:
    """The numbers and capitalised spans of any summary, and whether the document has them.

    A number is supported when the document has the same digits (thousands separators aside), a
    span when its words stand in the document one after the other.
    """
    fold = str if case_sensitive else str.lower
    source = " " + " ".join(_plain(fold(word)) for word in _WORD.findall(document)) + " "
    digits = {number.replace(",", "") for number in _NUMBER.findall(document)}
    found = [
        ("number", number, number.replace(",", "") in digits) for number in _NUMBER.findall(summary)
    ]
    for sentence in split_sentences(summary):
        for span in capitalised_spans(sentence):
            found.append(("name", span, f" {' '.join(map(fold, span.split()))} " in source))
    return found


def capitalised_spans(sentence: str) -> list[str]:
    """Maximal runs of capitalised words of a sentence, possessives removed.

    The first word of a sentence is capitalised whatever it is: function words are cut off there,
    and a run that is only that one word is left out.
    """
    spans: list[str] = []
    run: list[str] = []
    starts_sentence = False
    end = 0
    for position, word in enumerate(_WORD.finditer(sentence)):
        capital = word.group()[0].isupper()
        joined = bool(run) and sentence[end : word.start()] == " "
        if run and not (capital and joined):
            spans += _span(run, starts_sentence)
            run = []
        if capital:
            starts_sentence = position == 0 if not run else starts_sentence
            run.append(_plain(word.group()))
            end = word.end()
    return spans + _span(run, starts_sentence)


def _span(run: list[str], starts_sentence: bool) -> list[str]:
    if starts_sentence:
        while run and run[0].lower() in _FUNCTION_WORDS:
            run, starts_sentence = run[1:], False
        if starts_sentence and len(run) == 1:
            return []
    return [" ".join(run)] if run else []


def _plain(word: str) -> str:
    return _POSSESSIVE.sub("", word)
