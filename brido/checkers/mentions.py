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

from brido.checkers.numbers import is_known, known_numbers, numbers_of
from brido.text.words import UNSEEN, composed, split_sentences, without_unseen
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


# Names that hide a name, as of anonymised dialogues: #Person1#, [NAME], <LOCATION_2>.
_PLACEHOLDER = re.compile(r"#\w+#|\[[A-Z][A-Z0-9_]*\]|<[A-Z][A-Z0-9_]*>")
# Letters may be followed by their accents (NFD, as macOS writes), and hold what does not show.
_LETTERS = rf"\w[\w\u0300-\u036f{UNSEEN}]*"
# The speaker of a turn, at its start: "Anna: It rains." Bounded, so that a word of a million
# letters takes no square of them.
_SPEAKER = re.compile(rf"(?<!\w)(\w[\w\u0300-\u036f{UNSEEN}]{{0,40}}):(?=\s)")
# Speakers that are a role, not a name.
_ROLES = frozenset(
    """doctor patient guest family clinician nurse speaker person agent customer caller interviewer
    interviewee participant moderator user assistant client host operator man woman""".split()  # noqa: SIM905
)
_WORD = re.compile(rf"{_LETTERS}(?:['’.&]{_LETTERS})*")
# Where something begins inside a sentence of Punkt: a line, an entry of a list, behind a colon.
_BEGINS = re.compile(r"\n+\s*|(?:^|\s)\d{1,2}[.)]\s+|:\s+|[\u2022*-]\s+|[\"“(]")
_ABBREVIATION = re.compile(r"[A-Z](?:\.?[A-Z]){1,5}\.?s?")
# A model may write O'Brien where a typesetter wrote O’Brien, and other hyphens likewise.
_TYPESET = str.maketrans({"\u2010": "-", "\u2011": "-", "’": "'"})
_JOINTS = (" ", "-", "\u2010", "\u2011")
# The pronoun, not the number in "Elizabeth I".
_PRONOUN = re.compile(r"I(['’]\w+)?")
_POSSESSIVE = re.compile(r"['’]s$")
# A capital at the start of a sentence says nothing about these; they never start a name there.
_TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "prof"))
FUNCTION_WORDS = frozenset(
    """yes no well see also both all any some such each every other more most many
    a an the this that these those he she it they we you i his her its their our your my in on at
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

    A number is supported when the document has its value, in digits or in words
    (`brido.checkers.numbers`). A span is supported when its words stand in the document one after
    the other, however accents, ligatures and hyphens are encoded; an abbreviation also when the
    document spells it, or has words with these initials. The first word of a sentence or of an
    entry of a list is a name if it is one elsewhere in the text or the document. What only stands
    for a name counts in nothing: placeholders such as #Person1#, and speakers that are a role.
    """
    source = _read_source(document, case_sensitive)
    fold = _fold if case_sensitive else _fold_case
    # What is hidden keeps its place, as a word without a capital.
    rest = _hidden(summary)
    found = []
    for one in numbers_of(rest):
        place, known = slice(one.start, one.end), is_known(one, source.numbers)
        found.append(Mention("number", summary[place], known, one.start, one.end))
    names = source.names | _names_inside(summary, rest)
    for sentence, position in _sentences(summary, rest):
        for words, start, end in capitalised_spans(sentence, names, source.plain):
            if all(word in _ROLES for word in words.lower().split()):
                continue
            own = fold(words).replace("-", " ")
            said = f" {own} " in source.words or f" {own.lower()} " in source.words
            supported = said or _is_spelled(words, source)
            found.append(Mention("name", words, supported, position + start, position + end))
    return found


class _Source(NamedTuple):
    """What a document has: its words in a row, its numbers, names inside it, and plain words.

    initials: the first letters of its words in a row, for abbreviations.
    """

    words: str
    numbers: frozenset[str]
    names: frozenset[str]
    plain: frozenset[str]
    initials: str


# Candidates of a document are looked up one after the other.
@lru_cache(maxsize=16)
def _read_source(document: str, case_sensitive: bool) -> _Source:
    fold = _fold if case_sensitive else _fold_case
    rest = _hidden(document)
    said = [_plain(fold(word)) for word in _WORD.findall(document)]
    speakers = set(map(_fold, speakers_of(rest)))
    return _Source(
        f" {' '.join(said)} ",
        known_numbers(document),
        frozenset(speakers | _names_inside(document, rest)),
        frozenset(word for word in said if word.islower()),
        "".join(word[0] for word in said).lower(),
    )


def _is_spelled(words: str, source: _Source) -> bool:
    """Whether a document spells an abbreviation (M R I, M.R.I.) or says its words."""
    if not _ABBREVIATION.fullmatch(words):
        return False
    letters = words.replace(".", "").removesuffix("s").lower()
    said = source.words.lower()
    if any(f" {way} " in said for way in (" ".join(letters), ".".join(letters), letters)):
        return True
    return len(letters) > 2 and letters in source.initials


def placeholders(text: str) -> list[str]:
    """What stands for a name in a text, such as #Person1#, [NAME] and <LOCATION_2>."""
    return _PLACEHOLDER.findall(text)


def speakers_of(text: str) -> list[str]:
    """The speakers of a dialogue's turns, as often as they speak."""
    return [hit[1] for hit in _SPEAKER.finditer(text) if hit[1][0].isupper()]


def _hidden(text: str) -> str:
    """A text in which placeholders are words without a capital."""
    return _PLACEHOLDER.sub(lambda hit: "x" * len(hit.group()), text)


def _names_inside(text: str, rest: str) -> frozenset[str]:
    """The words of names that do not begin a sentence: elsewhere a capital says nothing."""
    return frozenset(
        word
        for sentence, _ in _sentences(text, rest)
        for words, start, _ in capitalised_spans(sentence)
        if start
        for word in _fold(words).replace("-", " ").split()
    )


def _sentences(text: str, rest: str) -> list[tuple[str, int]]:
    """The sentences of a text with their places; `rest` is the text without its placeholders.

    A line, an entry of a list and what follows a colon begin like sentences.
    """
    position, found = 0, []
    for sentence in split_sentences(text):
        position = text.index(sentence, position)
        own = rest[position : position + len(sentence)]
        begin = 0
        for hit in _BEGINS.finditer(own):
            found.append((own[begin : hit.end()], position + begin))
            begin = hit.end()
        found.append((own[begin:], position + begin))
        position += len(sentence)
    return found


def capitalised_spans(
    sentence: str, names: frozenset[str] = frozenset(), plain: frozenset[str] = frozenset()
) -> list[tuple[str, int, int]]:
    """Return the runs of capitalised words: (words without possessives, start, end).

    The first word of every sentence is capitalised. A function word is cut off there, and a run
    that is only that one word is left out, unless it is one of `names` (as `_fold` has them). A
    word that the source has without a capital (`plain`) is cut off there too. The pronoun I is
    none, and a title such as Dr is not a part of a name.
    """
    spans: list[tuple[str, int, int]] = []
    run: list[re.Match[str]] = []
    starts_sentence = False
    for position, word in enumerate(_WORD.finditer(sentence)):
        joined = bool(run) and sentence[run[-1].end() : word.start()] in _JOINTS
        pronoun = _PRONOUN.fullmatch(word.group())
        capital = word.group()[0].isupper() and not (pronoun and (pronoun[1] or not joined))
        if run and not (capital and joined):
            spans += _span(sentence, run, starts_sentence, names, plain)
            run = []
        if capital:
            starts_sentence = position == 0 if not run else starts_sentence
            run.append(word)
    return spans + _span(sentence, run, starts_sentence, names, plain)


def _span(
    sentence: str,
    run: list[re.Match[str]],
    starts_sentence: bool,
    names: frozenset[str],
    plain: frozenset[str],
) -> list[tuple[str, int, int]]:
    words = [_plain(word.group()) for word in run]
    first = 0
    while first < len(run) and words[first].lower() in _TITLES:
        first, starts_sentence = first + 1, False
    if starts_sentence:
        # Words that have their capital because they begin a sentence.
        while first < len(run) and (
            words[first].lower() in FUNCTION_WORDS
            or (
                first + 1 < len(run)
                and words[first].lower() in plain
                and _fold(words[first]) not in names
            )
        ):
            first, starts_sentence = first + 1, False
        if starts_sentence and len(run) == 1 and _fold(words[0]) not in names:
            return []
    if first == len(run):
        return []
    shown = "".join(
        words[place] + sentence[run[place].end() : run[place + 1].start()]
        for place in range(first, len(run) - 1)
    )
    return [(shown + words[-1], run[first].start(), run[-1].start() + len(words[-1]))]


def _fold(words: str) -> str:
    """Words as they are compared: encoded in one way, with a typewriter's signs."""
    return words if words.isascii() else without_unseen(composed(words)).translate(_TYPESET)


def _fold_case(words: str) -> str:
    return _fold(words.lower())


def _plain(word: str) -> str:
    return _POSSESSIVE.sub("", word)
