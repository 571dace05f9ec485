"""Marks from what a judge wrote: tolerant of form, strict about scales.

Judges think aloud, number their steps, and give marks as JSON, as text ("4/5"), in lines, tables,
tags, sections and sentences. A mark is a number that is said to be the mark, or that stands alone.
Numbers of lists, counts ("4 sentences") and ranges ("3-4") are none. A mark off its scale, a form
left at 0 and thoughts without an end leave the mark missing, with a reason.

`forms.py` knows the forms, `numbers.py` which numbers are not marks; this file decides what counts.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brido.evaluation.geval import forms
from brido.evaluation.geval.criteria import SCALES
from brido.evaluation.geval.numbers import best_of, whole
from brido.utils.thoughts import without_thoughts

_QUOTES = str.maketrans(
    {**dict.fromkeys("“”„‟«»＂", '"'), **dict.fromkeys("‘’‚‛", "'"), "\u00a0": " ", "：": ":"}
)
# Control tokens that a server left in the answer, and the name of who speaks.
_TOKENS = re.compile(r"<\|[a-z_]{1,30}\|>(?:assistant\b)?")
# Emphasis in HTML.
_TAGS = re.compile(r"</?(?:b|strong|em|i|u|span|code)>", re.IGNORECASE)
# Characters of an answer that are read, its last ones: a stranger may have written any number.
_LONGEST = 20_000
# Words of a key beside its criterion: {"final_coherence_score": 4}.
_WRAPPERS = {"score", "mark", "rating", "value", "grade", "result", "final", "overall", "answer"}


# Such words of a key whose number is the best mark: {"score": 4, "max_score": 10}.
_BEST = {"max", "maximum", "max possible", "maximum possible", "out of", "scale"}


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
    text, thoughts_cut = without_thoughts(text.translate(_QUOTES))
    text, cut_off = _TOKENS.sub("\n", _TAGS.sub("", text))[-_LONGEST:], cut_off or thoughts_cut
    if not text.strip():
        return dict.fromkeys(criteria, Missing("cut_off" if cut_off else "empty"))
    objects = list(_objects(text))
    return {name: _read(text, objects, name, len(criteria) == 1, cut_off) for name in criteria}


def _read(
    text: str, objects: Sequence[Mapping[str, Any]], criterion: str, alone: bool, cut_off: bool
) -> Mark:
    """The mark of one criterion; `alone`: nothing else was asked, so it need not be named."""
    marks = [mark for item in objects for mark in _in_object(item, criterion, alone)]
    for find in forms.finders(criterion, alone):
        if marks:
            break
        marks = [
            _on_scale(written.number, criterion, written.scale)
            for written in find(text)
            if not (cut_off and written.last)
        ]
    valid = [mark for mark in marks if not isinstance(mark, Missing)]
    return (valid or marks or [Missing("cut_off" if cut_off else "missing")])[-1]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object in the text that can be read, outer ones before inner ones."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield value


def _in_object(item: Mapping[str, Any], criterion: str, alone: bool) -> Iterable[Mark]:
    """The mark of a criterion in a JSON object: under its own name, or beside it.

    Such as {"coherence": 4}, {"criterion": "coherence", "score": 4}, or {"score": 4} where one
    criterion was asked for.
    """
    named = [(key, value) for key, value in item.items() if _key(key) == [criterion]]
    unnamed = [(key, value) for key, value in item.items() if not _key(key)]
    others = {word for value in item.values() if isinstance(value, str) for word in _key(value)}
    said = criterion in others
    if not named and (said or (alone and not others & set(SCALES))):
        named = unnamed
    for key, value in named:
        inner, holder = value, item
        if isinstance(value, dict):
            inner, holder = next((own for key, own in value.items() if not _key(key)), value), value
        yield _value(inner, criterion, best_of(key) or _best_in(holder))


def _best_in(item: Mapping[str, Any]) -> float | None:
    """The best mark that an object with a mark says there is: {"score": 4, "max_score": 10}."""
    for key, value in item.items():
        numbers = re.findall(r"\d+(?:\.\d+)?", f"{value}")
        if numbers and " ".join(_key(key)) in _BEST:
            return float(numbers[-1])  # of "1-10" the last one
    return None


def _key(text: str) -> list[str]:
    """The words of a short key or value that do not only say that it is a mark."""
    if len(text) > 60:
        return ["long"]
    return [word for word in re.findall(r"[^\W\d_]+", text.lower()) if word not in _WRAPPERS]


def _value(value: Any, criterion: str, scale: float | None) -> Mark:
    """The mark that a JSON value is; `scale`: the best one of its key ("Fluency (1-3)")."""
    if isinstance(value, str):
        written = whole(value) or next(iter(forms.leading(value)), None)
        if written is None:
            return Missing("not_a_number")
        return _on_scale(written.number, criterion, written.scale or scale)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Missing("not_a_number")
    return _on_scale(value, criterion, scale)


def _on_scale(number: float, criterion: str, scale: float | None = None) -> Mark:
    """A number as a mark; "8/10" is on another scale."""
    lowest, highest = SCALES[criterion]
    if scale is not None and scale != highest:
        return Missing("off_scale")
    if not lowest <= number <= highest or not math.isfinite(number):
        return Missing("off_scale")
    return float(number)
