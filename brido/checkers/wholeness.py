"""Is a text whole, and how much of it is copied? On the world exactly, elsewhere by stated rules.

A summary is *good* if it is whole and nothing in it is unsupported. Without the first half broken
sentences would look honest, because they also say less.
"""

import math
import re
from itertools import pairwise
from typing import Any

from brido.checkers.mentions import FUNCTION_WORDS, capitalised_spans
from brido.text.words import CLOSERS, ENDS, split_sentences, word_count, words
from brido.world import reading

# A text has at least half and at most twice as many words as its reference.
SHORTEST, LONGEST = 0.5, 2.0
# Without a reference it has at most half of its document's words, or so many.
OF_DOCUMENT, ALWAYS = 0.5, 20
_END = re.compile(rf"""[.!?…{ENDS}][{re.escape(CLOSERS)}]*$""")
_POINTS = ".,;:!?…"
_PAUSES = ",;:"
# A loop says the same few words again and again, or the same letters.
_LOOPING, _DIFFERENT = 10, 0.4
_STUTTER = re.compile(r"([^\W\d_]{1,10}?)\1{4,}")
# Why a text is not whole, in the order in which it is asked.
REASONS = ("no sentence", "repeats", "cut", "too short", "too long")
_PREPOSITIONS = frozenset(("in", "on", "at", "by", "for", "from", "near", "with"))
RULES = (
    "whole: half to twice the words of its reference, no word twice in a row, no three words in a "
    "row twice, in a sentence no name twice and nothing like `in Holm` twice, and an end (. ! ? "
    "...) if the reference has one or is missing. Without a reference at most half of the "
    "document's words, or 20. No loop: of ten words or more two in five differ, and no letters "
    "stand five times in a row"
)


def is_whole(
    text: str, reference: str | None, facts: list[dict[str, Any]] | None, document: str = ""
) -> bool:
    """Whether a text is whole: by the world's grammar where there are facts, else by RULES."""
    return not why_not_whole(text, reference, facts, document)


def why_not_whole(
    text: str, reference: str | None, facts: list[dict[str, Any]] | None, document: str = ""
) -> str:
    """Why a text is not whole, the first of REASONS that holds; "" where it is. See `is_whole`.

    On the world "no sentence" says that the text breaks the grammar, elsewhere that it has no word:
    rules do not see wrong grammar.
    """
    event = next((fact["value"] for fact in facts or () if fact["slot"] == "event"), None)
    if event is not None:
        return "" if reading.read(text, event).well_formed else "no sentence"
    # Without a model, so an approximation. Who repeats a document summarizes nothing; beside a
    # headline, which does not end in a full stop, a text need not end.
    words = text.lower().split()
    if not words:
        return "no sentence"
    plain = [word.strip(_POINTS) for word in words]
    threes = list(zip(plain, plain[1:], plain[2:], strict=False))
    if _repeats(words) or len(set(threes)) < len(threes) or _loops(plain) or _says_twice(text):
        return "repeats"
    alone = reference is None or not reference.strip()
    if not _END.search(text.strip()) and (alone or _END.search(str(reference).strip())):
        return "cut"
    if alone:
        longest = max(ALWAYS, OF_DOCUMENT * word_count(document)) if document.strip() else math.inf
        return "too long" if word_count(text) > longest else ""
    length = word_count(str(reference))
    if word_count(text) < SHORTEST * length:
        return "too short"
    return "too long" if word_count(text) > LONGEST * length else ""


def _repeats(words: list[str]) -> bool:
    """Whether a word stands twice in a row, a comma between aside ("no, no"; not "Tom. Tom")."""
    return any(first.rstrip(_PAUSES) == second.rstrip(_PAUSES) != "" or first == second
               for first, second in pairwise(words))  # fmt: skip


def _loops(words: list[str]) -> bool:
    few = len(words) >= _LOOPING and len(set(words)) < _DIFFERENT * len(words)
    return few or any(_STUTTER.search(word) for word in words)


def _says_twice(text: str) -> bool:
    """Whether a sentence names the same twice, or where and when ("in Holm over in Holm").

    Of people's summaries 1 in 150 does, of grammatical sentences of a broken model 1 to 3 in 100,
    of its broken ones 40 to 60. An abbreviation may stand twice.
    """
    for sentence in split_sentences(text):
        spans = [name for name, *_ in capitalised_spans(sentence)]
        names = [name for name in spans if " " in name or sum(map(str.isupper, name)) < 2]
        plain = [word.strip(_POINTS) for word in sentence.lower().split()]
        places = [
            pair
            for pair in pairwise(plain)
            if pair[0] in _PREPOSITIONS and pair[1] not in FUNCTION_WORDS
        ]
        if len(set(names)) < len(names) or len(set(places)) < len(places):
            return True
    return False


def copied_share(document: str, text: str) -> float:
    """The share of a text's word trigrams that stand in the document, 0 to 1; case aside.

    Of a text of one or two words: whether they stand there in a row. 0 without a word.

    Example:
        >>> copied_share("A lorry hit a wall in Ashwick.", "A lorry hit a tree.")
        0.6666666666666666
    """
    source, own = words(document), words(text)
    size = min(3, len(own))
    if not size:
        return 0.0
    there, grams = (
        list(zip(*(words[place:] for place in range(size)), strict=False))
        for words in (source, own)
    )
    known = set(there)
    return sum(gram in known for gram in grams) / len(grams)
