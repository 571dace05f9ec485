"""Marks from what a judge wrote, read strictly: a wrong mark is worse than a missing one.

A mark is read in two places: in the last JSON object that stands by itself on its lines and has the
criterion's name, and in a line that holds a criterion and its mark and nothing else. An object
inside another, in a list or in a sentence is none. What cannot be read is missing, with a reason.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brido.evaluation.geval.criteria import SCALES
from brido.text.control_tokens import without_end_tokens
from brido.text.thoughts import without_thoughts

_QUOTES = str.maketrans({**dict.fromkeys("“”„‟«»＂", '"'), "\u00a0": " ", "：": ":"})
# A longer line holds more than a criterion and its mark.
_LONGEST_LINE = 120
# So many pieces of JSON that cannot be read are no answer.
_MOST_BROKEN = 20
# What decorates a number or a line, here and there: "**Coherence**: `4`".
_DECORATION = re.compile(r"[*_`#>•\"']")
_OWN_NAMES = ("score", "rating", "mark")
_NUMBER = r"(?P<number>\d{1,4}(?:[.,]\d{1,4})?)(?: ?(?:/|out of|of) ?(?P<best>\d{1,4}))? ?\.?"
_VALUE = re.compile(_NUMBER)
# "1. Coherence (1-5): 4/5", "Score = 4"; with single spaces and without decoration.
_LINE = re.compile(
    r"(?:- )?(?:\d{1,2}[.)] ?)?(?P<name>[a-z]+)(?: (?:score|rating|mark))?"
    r"(?: ?\( ?1 ?(?:-|–|to) ?(?P<range>\d{1,4}) ?\))? ?[:=] ?" + _NUMBER,
    re.IGNORECASE,
)
# Keys of an object whose mark is on a scale of its own: {"score": 4, "max_score": 10}.
_OTHER_SCALE = re.compile(r"max|scale|out.?of|best|range|total", re.IGNORECASE)


@dataclass(frozen=True)
class Missing:
    """Why there is no mark: missing, several, off_scale, not_a_number, empty, refused, cut_off.

    Or the server's own word for the end of an answer that did not come to its end.
    """

    reason: str


Mark = float | Missing


def read_marks(text: str, criteria: Sequence[str], ending: str = "stop") -> dict[str, Mark]:
    """The mark of each of `criteria` in a judge's answer, a float on its scale or `Missing`.

    `ending` says how the answer ended (`Answer.ending`). At the end of one that was cut a number
    may lack digits and does not count. Where one criterion is asked for, `score` is its name too,
    and an answer may be the mark alone. The work is linear in the length of the text.
    """
    if ending == "refused":
        return dict.fromkeys(criteria, Missing("refused"))
    text, thoughts_cut = without_thoughts(text.translate(_QUOTES))
    text = without_end_tokens(text)
    cut = thoughts_cut or ending not in {"stop", "unsaid"}
    nothing = "missing"
    if cut:
        nothing = "cut_off" if thoughts_cut or ending == "length" else ending
    elif not text.strip():
        nothing = "empty"
    objects, lines = _objects(text), _lines(text, cut)
    marks: dict[str, Mark] = {}
    for criterion in criteria:
        names = (criterion, *(_OWN_NAMES if len(criteria) == 1 else ()))
        found = _in_objects(objects, names, criterion)
        if found is None:
            found = _in_lines(lines, names, criterion)
        if found is None and len(criteria) == 1 and not cut:
            found = _number(text, criterion)
        marks[criterion] = Missing(nothing) if found is None else found
    return marks


def _objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects that stand by themselves on their lines; none behind one without an end."""
    decoder, found, position, broken = json.JSONDecoder(), [], 0, 0
    text += "\n"
    while position < len(text):
        end = text.index("\n", position)
        line = text[position:end]
        start = end - len(line.lstrip())
        if text[start : start + 1] in {"{", "["}:
            try:
                value, stop = decoder.raw_decode(text, start)
            except (ValueError, RecursionError):
                broken += 1
                if line.count("{") != line.count("}") or broken > _MOST_BROKEN:
                    # What follows may stand inside of it.
                    return []
            else:
                end = text.index("\n", stop)
                if isinstance(value, dict) and not text[stop:end].strip():
                    found.append({str(key).strip().lower(): own for key, own in value.items()})
        position = end + 1
    return found


def _in_objects(
    objects: Sequence[Mapping[str, Any]], names: Sequence[str], criterion: str
) -> Mark | None:
    """The mark of the last object that has one of the names; None if none has."""
    for item in reversed(objects):
        if name := next((own for own in names if own in item), None):
            said = {str(value).strip().lower() for value in item.values()}
            if name != criterion and said & (set(SCALES) - {criterion}):
                return None
            if any(_OTHER_SCALE.search(key) for key in item if key not in names):
                return Missing("off_scale")
            value = item[name]
            if isinstance(value, str):
                return _number(value, criterion) or Missing("not_a_number")
            if isinstance(value, bool) or not isinstance(value, int | float):
                return Missing("not_a_number")
            return _on_scale(value, criterion)
    return None


def _lines(text: str, cut: bool) -> list[re.Match[str]]:
    """The lines that hold a name and a number alone; not the last one where the text was cut."""
    lines = text.split("\n")
    found = [_match(_LINE, line) for line in (lines[:-1] if cut else lines)]
    return [match for match in found if match]


def _match(pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    """The match of a whole line without its decoration, its white space single."""
    if len(line) > _LONGEST_LINE:
        return None
    return pattern.fullmatch(" ".join(_DECORATION.sub(" ", line).split()))


def _in_lines(lines: Sequence[re.Match[str]], names: Sequence[str], criterion: str) -> Mark | None:
    """The mark of the lines with one of the names; None if there is no such line."""
    own = [line for line in lines if line["name"].lower() in names]
    marks = {_of_match(line, criterion) for line in own}
    return Missing("several") if len(marks) > 1 else next(iter(marks), None)


def _number(text: str, criterion: str) -> Mark | None:
    """The mark that a text consists of; None if it has anything else."""
    match = _match(_VALUE, text)
    return None if match is None else _of_match(match, criterion)


def _of_match(match: re.Match[str], criterion: str) -> Mark:
    said = match["best"] or match.groupdict().get("range")
    if said is not None and int(said) != SCALES[criterion][1]:
        return Missing("off_scale")
    return _on_scale(float(match["number"].replace(",", ".")), criterion)


def _on_scale(number: float, criterion: str) -> Mark:
    lowest, highest = SCALES[criterion]
    if not math.isfinite(number) or not lowest <= number <= highest:
        return Missing("off_scale")
    return float(number)
