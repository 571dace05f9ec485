"""Marks from what a judge wrote: tolerant of form, strict about scales.

Judges wrap their JSON in prose or fences, use typographic or single quotes, write numbers as text
("4/5") or answer in lines (`Coherence: 4`). All of that is read. A mark off its scale, a range
("3-4"), a form left at 0, or a number of something else is not a mark: the mark is missing, with a
reason.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from brido.evaluation.geval.criteria import SCALES

_QUOTES = str.maketrans(
    {**dict.fromkeys("“”„‟«»＂", '"'), **dict.fromkeys("‘’‚‛", "'"), "\u00a0": " ", "：": ":"}
)
_REASONING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# A number, and what it is said to be out of; not the start of a range such as 1-5.
_NUMBER = r"(?P<number>[-+]?\d+(?:[.,]\d+)?)(?![\d.,]*\d)(?!\s*[-–—]\s*\d)(?!\s+to\s+\d)"
_OUT_OF = r"(?:\s*(?:/|out of|of)\s*(?P<scale>\d+(?:\.\d+)?))?"
_WHOLE = re.compile(rf"\s*{_NUMBER}{_OUT_OF}\s*")
_BARE = re.compile(rf"[\s*_`\"']*(?:(?:score|mark|rating)\b[\s*_`\"']*[:=]?)?[\s*_`\"']*{_NUMBER}"
                   rf"{_OUT_OF}(?=[\s*_`\"'.,;:)]|\Z)", re.IGNORECASE)  # fmt: skip
_WRAPPERS = ("score", "mark", "rating", "value")


@dataclass(frozen=True)
class Missing:
    """Why there is no mark: missing, off_scale, not_a_number, empty, refused, cut_off."""

    reason: str


Mark = float | Missing


def read_marks(
    text: str, criteria: Sequence[str], cut_off: bool = False, refused: bool = False
) -> dict[str, Mark]:
    """The mark of each of `criteria` in a judge's answer, a float on its scale or `Missing`.

    Where an answer holds several marks of one criterion the last valid one counts (judges reason
    first). `cut_off` says that the answer ended at its token limit: a number at the very end may
    then lack digits and does not count. `refused` says that the server marked a refusal or filter.
    """
    if refused:
        return dict.fromkeys(criteria, Missing("refused"))
    text = _REASONING.sub("", text.translate(_QUOTES))
    if not text.strip():
        return dict.fromkeys(criteria, Missing("cut_off" if cut_off else "empty"))
    objects = list(_objects(text))
    marks = {}
    for criterion in criteria:
        found = [_value(_lookup(item, criterion), criterion) for item in objects]
        found = [mark for mark in found if mark != Missing("missing")]
        if not found:
            found = _in_lines(text, criterion, cut_off)
        if not found and len(criteria) == 1:
            found = _bare(text, criterion, cut_off)
        marks[criterion] = _last_valid(found, cut_off)
    return marks


def _last_valid(found: list[Mark], cut_off: bool) -> Mark:
    valid = [mark for mark in found if not isinstance(mark, Missing)]
    if valid:
        return valid[-1]
    if found:
        return found[-1]
    return Missing("cut_off" if cut_off else "missing")


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object in the text that can be read, outer ones before inner ones."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield value


def _lookup(item: dict[str, Any], criterion: str) -> Any:
    for key, value in item.items():
        if key.strip().lower() == criterion:
            if isinstance(value, dict):
                return next((value[name] for name in _WRAPPERS if name in value), value)
            return value
    return Missing("missing")


def _value(value: Any, criterion: str) -> Mark:
    if isinstance(value, Missing):
        return value
    if isinstance(value, str):
        match = _WHOLE.fullmatch(value)
        return _checked(match, criterion) if match else Missing("not_a_number")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Missing("not_a_number")
    return _on_scale(value, criterion)


def _checked(match: re.Match[str], criterion: str) -> Mark:
    """A number that one of the patterns matched, as a mark; "8/10" is on another scale."""
    scale = match.groupdict().get("scale")
    if scale is not None and float(scale) != SCALES[criterion][1]:
        return Missing("off_scale")
    return _on_scale(float(match["number"].replace(",", ".")), criterion)


def _on_scale(number: float, criterion: str) -> Mark:
    lowest, highest = SCALES[criterion]
    if not math.isfinite(number) or not lowest <= number <= highest:
        return Missing("off_scale")
    return float(number)


def _in_lines(text: str, criterion: str, cut_off: bool) -> list[Mark]:
    """The marks in the form `criterion: number`, with any quotes and emphasis."""
    name = rf"(?<![A-Za-z]){criterion}\b[\s\"'*_`]*(?:\([^()\n]{{0,20}}\))?[\s\"'*_`]*"
    link = r"(?:[:=]|\s[-–—]\s|\bis\b)[\s\"'*_`]*"
    matches = re.finditer(rf"{name}{link}{_NUMBER}{_OUT_OF}", text, re.IGNORECASE)
    return [_checked(match, criterion) for match in matches if _complete(match, text, cut_off)]


def _bare(text: str, criterion: str, cut_off: bool) -> list[Mark]:
    match = _BARE.match(text.strip().removeprefix("```").lstrip())
    if match is None or not _complete(match, match.string, cut_off):
        return []
    return [_checked(match, criterion)]


def _complete(match: re.Match[str], text: str, cut_off: bool) -> bool:
    return not (cut_off and match.end("number") == len(text.rstrip()))
