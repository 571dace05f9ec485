"""What in a candidate is foreign to its document: another script, or markup left after cleaning.

Both are counted and decide nothing. The rules know no language: an answer in another language of
the same script passes them (it agrees with nobody, which the table of sources shows).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

FOREIGN = ("other_script", "markup_left")

# A script with a smaller share of a document's letters is not one that the document is written in.
LEAST_SHARE = 0.1

_MARKUP = {
    "tag": re.compile(r"</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|&(?:[a-z]{2,8}|#\d{1,6});"),
    "formula": re.compile(r"\\[A-Za-z]{2,}|\\[()\[\]]|\$[^$\s][^$]*[\\^_][^$]*\$"),
    "fence": re.compile(r"```"),
    "table": re.compile(r"\|\s*:?-{3,}:?\s*\||\A\s*\|(?:[^|]*\|){2,}\s*\Z"),
}


class Foreign:
    """One document, and what of candidates is foreign to it."""

    def __init__(self, document: str) -> None:
        letters = _scripts(document)
        least = LEAST_SHARE * letters.total()
        self._scripts = {script for script, count in letters.items() if count >= least}
        self._markup = _markup(document)

    def __call__(self, text: str) -> tuple[str, ...]:
        """Which of FOREIGN is true of a cleaned candidate.

        other_script: more than half of its letters are of scripts with less than LEAST_SHARE of the
        document's letters, which has some. markup_left: it has a tag, a formula's commands, a fence
        or a table, and the document has none of that kind.
        """
        letters = _scripts(text)
        strange = sum(count for script, count in letters.items() if script not in self._scripts)
        found = bool(self._scripts) and 2 * strange > letters.total(), _markup(text) - self._markup
        return tuple(name for name, it in zip(FOREIGN, found, strict=True) if it)


def _markup(text: str) -> set[str]:
    return {kind for kind, pattern in _MARKUP.items() if pattern.search(text)}


def _scripts(text: str) -> Counter[str]:
    """The letters of a text, counted by script."""
    if text.isascii():
        count = sum(map(str.isalpha, text))
        return Counter({"LATIN": count} if count else {})
    found: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if script := _script(character):
            found[script] += count
    return found


@lru_cache(maxsize=65536)
def _script(character: str) -> str:
    """The script of a letter, the first word of its name in Unicode; "" of anything else.

    Letters that stand for others (full width, mathematical, the micro sign) count as those.
    """
    plain = unicodedata.normalize("NFKC", character)[:1]
    if unicodedata.category(plain or character) not in {"Lu", "Ll", "Lt", "Lo"}:
        return ""
    return unicodedata.name(plain, "").partition(" ")[0]
