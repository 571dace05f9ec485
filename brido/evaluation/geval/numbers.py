"""Numbers in a judge's answer: how they are written, and which of them cannot be marks.

Numbers of lists, counts ("4 sentences") and ranges ("3-4") never are, also behind `Score:`. Nor is
the best mark that there is ("5点満点中4点").
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


class WrittenNumber(NamedTuple):
    """A number of a judge's, what it is said to be out of, and whether the text ends in it.

    A number is `last` if further digits may have been cut off behind it.
    """

    number: float
    scale: float | None
    last: bool
    start: int


# Emphasis, quotation marks and brackets, which may stand around a number.
MARKUP = r"[\s\"'*_`~\[(<{$\\]{0,20}"
NUMBER = r"(?P<number>[-+]?\d+(?:[.,]\d+)?)(?![\d.,]*\d)(?![A-Za-z½¼¾])(?!\s*%)"
OUT_OF = (
    r"(?:[*_`\"']*\s*(?:(?:points?|stars?)\s+)?\(?(?:/|out of|of)\s*[*_`]*"
    r"(?P<scale>\d+(?:\.\d+)?)(?![\d.]*\d))?"
)
# "5 - 1 = 4"
_SUM = r"(?:[\d.]{1,9}(?:\s?[-+–]\s?[\d.]{1,9}){1,9}\s?=\s?)?"
MARK = rf"{MARKUP}{_SUM}{NUMBER}{OUT_OF}"
_WHOLE = re.compile(rf"\s*{NUMBER}{OUT_OF}\s*")

_RANGE = re.compile(
    r"(?:[ \t]*\([^()\n]{0,20}\))?[ \t]*(?:[-–—~]|\b(?:to|or|through)\b)[ \t]*(?P<end>\d+)"
    r"(?P<behind>[ \t]+[a-z])?"
)
# The best mark that a scale has: (1-5), [1 to 5], (out of 5).
_BEST = re.compile(r"(?:\d\s*(?:[-–—~]|to)|out of|/)\s*(\d+)", re.IGNORECASE)
# The best mark in Japanese, Korean and Chinese, where it comes first: "5点満点中4点".
_OF_BEST = re.compile(r"\s?(?:点満点|点中|段階|점\s?만점|分[满滿]分|分制|分中)")
_LIST = re.compile(r"\s*,\s*\d+\s*,\s*\d")
BEGINS_ITEM = re.compile(r"[.)][ \t]+\S")
# A lower-case word behind a number says what is counted, unless it is one of these.
_WORD = re.compile(r"[\"'*_`)\]]*[ \t]+(?P<word>[a-z]+)")
_NO_COUNT = frozenset(
    """
    to because since as for due given and but with which overall point points star stars mark marks
    based considering however while although though so is was would indicates indicating meaning
    means reflects reflecting here at by if on in very good excellent fair poor mostly fully highly
    well strong weak solid not
    """.split()  # noqa: SIM905 - a list of words reads better as text
)
_CUT_NUMBER = re.compile(r"[-+]?[\d.,]+[ \t]*(?:(?:/|out of|of)?[ \t]*[\d.]*)?")


def whole(text: str) -> WrittenNumber | None:
    """The number that a text consists of; None if there is anything else."""
    match = _WHOLE.fullmatch(text)
    if match is None or "." in text[match.end("number") :].lstrip()[:1]:
        return None
    return written_in(match)


def best_of(scale: str) -> float | None:
    """The best mark of a scale in words, None where it names none."""
    found = _BEST.search(scale)
    return None if found is None else float(found[1])


def written_in(match: re.Match[str]) -> WrittenNumber:
    groups = match.groupdict()
    scale = groups.get("scale") or best_of(groups.get("range") or "")
    behind = match.string[match.start("number") :]
    return WrittenNumber(
        float(match["number"].replace(",", ".")),
        None if scale is None else float(scale),
        _CUT_NUMBER.fullmatch(behind) is not None,
        match.start("number"),
    )


def marks(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches whose number may be a mark: not in a range or list, a count or the best mark."""
    for match in pattern.finditer(text):
        other = any(sign.match(text, match.end("number")) for sign in (_OF_BEST, _LIST))
        if not (other or is_range(match) or _is_count(match) or _is_item(match)):
            yield match


def is_range(match: re.Match[str]) -> bool:
    """Whether the number begins a range: "3-4", "3 or 4"; but not "4 - 2 facts are missing"."""
    found = _RANGE.match(match.string, match.end("number"))
    if found is None:
        return False
    falls = float(found["end"]) < float(match["number"].replace(",", "."))
    return not (falls and found["behind"])


def _is_count(match: re.Match[str]) -> bool:
    """Whether the number counts something: "4 sentences", "4 out of the 5 facts"."""
    found = _WORD.match(match.string, match.end())
    return found is not None and found["word"] not in _NO_COUNT


def _is_item(match: re.Match[str]) -> bool:
    """Whether the number is that of an item of a list: it begins a line, or the next one comes."""
    text, number = match.string, match["number"]
    if not re.fullmatch(r"\d{1,3}", number) or match.groupdict().get("scale"):
        return False
    if not BEGINS_ITEM.match(text, match.end("number")):
        return False
    start = match.start("number")
    begins = "\n" in text[text.rfind(":", 0, start) + 1 : start]
    follows = re.search(
        rf"^[^\w\n]*{int(number) + 1}[.)][ \t]+\S", text[start : start + 2000], re.MULTILINE
    )
    return begins or follows is not None
