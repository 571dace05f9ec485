"""The forms in which judges write a number that is meant as a mark.

Each finder yields the marks of one criterion in the order of the text. They go from plain forms
(`Coherence: 4`, a table, a line with a number alone) to sentences ("I give it a 4"): what the first
ones find is not looked for by the later ones.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise, zip_longest

from brido.evaluation.geval.criteria import CRITERIA, SCALES
from brido.evaluation.geval.numbers import (
    BEGINS_ITEM,
    MARK,
    NUMBER,
    OUT_OF,
    WrittenNumber,
    is_range,
    marks,
    whole,
    written_in,
)

Finder = Callable[[str], Iterable[WrittenNumber]]

_LABELS = (
    r"(?:score|rating|rate|mark|grade|verdict|answer|overall|evaluation|assessment|result|"
    r"bewertung|punktzahl|puntuaci[oó]n|calificaci[oó]n|оценка|评分|得分|分数|スコア|評価|점수)s?"
)
_EMPHASIS = " \t*_`\"'"
# Of which scale it is: (1-5), [1 to 5], (out of 5).
_SCALE = (
    r"[\s\"'*_`\]]{0,9}(?P<range>[(\[][^()\[\]\n]{0,20}[)\]]|1\s*(?:-|–|to)\s*\d+)?"
    r"[\s\"'*_`]{0,9}"
)
_LINK = r"(?:(?:\s+(?:is|was|would be))?\s*[:=|\t]|→|[-=]>|\s[-–—]\s)"
_OTHER_SCORE = re.compile(
    r"\b(?:max|maximum|min|minimum|possible|highest|lowest|best|worst|perfect|top)[\s*_]*\Z",
    re.IGNORECASE,
)

_CONDITION = re.compile(r"[*_`\"']*,?[ \t]+(?:if|would|were|had|unless|requires?|needs?|could)\b")
# "On a scale of 1 to 10, I give it a 4."
_ON_SCALE = re.compile(r"\bscale (?:of|from) 1\s*(?:[-–—]|to)\s*(?P<best>\d+)", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|never|cannot|rather than|instead of|neither)\b|n't\b", re.IGNORECASE)


def finders(criterion: str, alone: bool) -> Iterator[Finder]:
    """The finders of a criterion's marks; `alone`: it need not be named, being the only one."""
    yield lambda text: _in_table(text, criterion, alone)
    yield lambda text: _labelled(text, criterion)
    if alone:
        yield from _finders_of_one(criterion)
        yield leading
    else:
        yield lambda text: _in_section(text, criterion)
        yield lambda text: _in_sentences(text, _said(criterion))


def _finders_of_one(criterion: str) -> Iterator[Finder]:
    """The finders in a text, or a section of one, that is about nothing but the criterion."""
    yield lambda text: _unnamed(text, criterion)
    yield lambda text: _in_sentences(text, _said(f"{criterion}|{_LABELS}"))
    yield lambda text: _in_sentences(text, _given(criterion))


@cache
def _patterns(names: str) -> tuple[re.Pattern[str], ...]:
    """A name with its mark: `**Coherence (1-5)**: 4/5`, `Coherence (4/5)`, `<score>4</score>`."""
    begin = rf"(?<![A-Za-z])(?P<name>{names})\b(?:[\s_]+(?:{_LABELS}))?"
    about = r"(?P<about>\s+(?:for|of|on)\s+[a-z' ]{1,40}?)?"
    patterns = (
        rf"{begin}{about}{_SCALE}{_LINK}{MARK}",
        rf"{begin}[\s\"'*_`]*\({NUMBER}{OUT_OF}\)",
        rf"^[^A-Za-z\n]{{0,20}}{begin}[ \t*_`]+{NUMBER}{OUT_OF}[^\w\n]*$",
        rf"<(?P<name>{names})(?:_{_LABELS})?>\s*{NUMBER}{OUT_OF}\s*</",
    )
    return tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in patterns)


def _labelled(text: str, names: str) -> list[WrittenNumber]:
    """The marks that stand behind one of `names`, in order; not those of other criteria."""
    matches = {
        match.start("number"): match
        for pattern in _patterns(names)
        for match in marks(pattern, text)
        if not (_is_other(match) or _is_one_cell_of_many(match))
    }
    return [written_in(match) for _, match in sorted(matches.items())]


def _is_one_cell_of_many(match: re.Match[str]) -> bool:
    """Whether the number is in a row of a table with further ones, such as the best mark."""
    text, start = match.string, match.start("number")
    if "|" not in text[match.end("name") : start]:
        return False
    before, behind = text[max(start - 200, 0) : start], text[start : start + 200]
    row = before.rpartition("\n")[2] + behind.partition("\n")[0]
    return sum(whole(cell.strip(_EMPHASIS)) is not None for cell in row.split("|")) > 1


def _is_other(match: re.Match[str]) -> bool:
    """Whether a score is that of another criterion, or the best that there can be."""
    name, text, start = match["name"].lower(), match.string, match.start("name")
    line = text[max(text.rfind("\n", 0, start) + 1, start - 60) : start]
    about = (match.groupdict().get("about") or "").lower()
    others = [criterion for criterion in CRITERIA if criterion not in name]
    if name in CRITERIA:
        return False
    last = re.search(r"(\w+)[\W_]*\Z", line.lower())
    return bool(
        _OTHER_SCORE.search(line)
        or any(other in about for other in others)
        or (last is not None and last[1] in others)
    )


# [[4]] and \boxed{4}, the forms of some prompts and of models tuned on mathematics.
_BOXED = re.compile(rf"(?:\[\[|\\boxed\{{(?:\\text\{{)?)\s*{NUMBER}{OUT_OF}\s*[\]}}]")
_LINE = re.compile(
    rf"^(?P<before>(?:[-*•+>][ \t]+)?[^\w\n+-]*){NUMBER}{OUT_OF}(?P<after>[^\w\n]*)$",
    re.MULTILINE,
)


def _unnamed(text: str, criterion: str) -> list[WrittenNumber]:
    """Marks where one is asked for: behind `Score:` and the like, in a box, alone on a line."""
    written = [*_labelled(text, rf"{criterion}|{_LABELS}"), *map(written_in, _BOXED.finditer(text))]
    return sorted([*written, *_lines(text)], key=lambda mark: mark.start)


def _lines(text: str) -> list[WrittenNumber]:
    """Numbers alone on a line: one, or several with words between them; a list of them is none."""
    lines = [match for match in _LINE.finditer(text) if not is_range(match)]
    kept = []
    for match in lines:
        rest = text[match.end() :].strip()
        if match["after"].lstrip("*_` ")[:1] in {".", ")"} and "(" not in match["before"] and rest:
            continue
        kept.append(match)
    for one, after in pairwise(kept):
        if one["number"] != after["number"] and not text[one.end() : after.start()].strip():
            return []
    return [written_in(match) for match in kept]


def _in_table(text: str, criterion: str, alone: bool) -> list[WrittenNumber]:
    """Marks in the cells of a table: in the criterion's row, or in its column.

    Of several numbers in its row, that in the column of scores.
    """
    rows = [
        [cell.strip(_EMPHASIS) for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if "|" in line and not re.fullmatch(r"[\s|:-]+", line)
    ]
    written: list[WrittenNumber] = []
    heads: list[int] = []
    scores: list[int] = []
    for row in rows:
        titled = [number for number, cell in enumerate(row) if _is_title(cell, criterion, alone)]
        marks = [(number, mark) for number, cell in enumerate(row) if (mark := whole(cell))]
        if not marks:
            scores += [number for number, cell in enumerate(row) if _is_title(cell, _LABELS, False)]
        if titled and not marks:
            heads = titled
        elif titled == [0] and marks:
            one = len(marks) == 1
            written += [mark for number, mark in marks if one or number in scores]
        elif not _is_title(row[0], "|".join(CRITERIA), False):
            written += [mark for number, mark in marks if number in heads]
    return written


def _is_title(cell: str, names: str, alone: bool) -> bool:
    words = rf"(?:{names})(?:\s+{_LABELS})?" + (rf"|{_LABELS}" if alone else "")
    return re.fullmatch(rf"(?:\d+[.)]\s*)?(?:{words}){_SCALE}", cell, re.IGNORECASE) is not None


def _in_section(text: str, criterion: str) -> list[WrittenNumber]:
    """Marks in the part of a text that a line with the criterion's name begins."""
    heading = rf"^[^A-Za-z\n]{{0,20}}(?P<name>{'|'.join(CRITERIA)})\b"
    heads = [*re.finditer(heading, text, re.IGNORECASE | re.MULTILINE)]
    written: list[WrittenNumber] = []
    for head, after in zip_longest(heads, heads[1:]):
        if head["name"].lower() == criterion:
            end = len(text) if after is None else after.start()
            part = text[head.end() : end]
            marks = next(filter(None, (find(part) for find in _finders_of_one(criterion))), ())
            # What ends a section does not end the text.
            written += [mark._replace(last=mark.last and after is None) for mark in marks]
    return written


@cache
def _said(names: str) -> re.Pattern[str]:
    """A name, then in the same sentence what it is: `the coherence of the text is about 4`."""
    verbs = r"(?:is|was|of|as|be|deserves?|earns?|gets?|receives?|merits?)"
    return re.compile(
        rf"\b(?P<name>{names})\b[^.\n:;\d]{{0,60}}?\b{verbs}\s+(?:an?\s+|about\s+|around\s+)?{MARK}",
        re.IGNORECASE,
    )


@cache
def _given(criterion: str) -> re.Pattern[str]:
    """A judge that gives, or a mark out of the best one: `I would rate its coherence 4`, `4/5`."""
    best = SCALES[criterion][1]
    verbs = (
        r"(?:give|giving|gave|assign|assigning|award|rate|rating|rated|mark|grade|score|scored|"
        r"deserves?|earns?|gets?|receives?|merits?|choose|scores|say)"
    )
    return re.compile(
        rf"(?:\b{verbs}\b[^.\n:;]{{0,50}}?\s(?:an?\s)?"
        rf"|(?<![\w./-])(?=\d{{1,3}}\s?(?:/|out of)\s?{best}\b))"
        rf"[\"'*_`]*{NUMBER}{OUT_OF}",
        re.IGNORECASE,
    )


def _in_sentences(text: str, pattern: re.Pattern[str]) -> list[WrittenNumber]:
    """Marks that a sentence gives; not those that it denies or makes depend on something."""
    kept = []
    for match in marks(pattern, text):
        begin = max(text.rfind(sign, 0, match.start()) for sign in (". ", "\n", "; ", "? ", "! "))
        sentence = text[begin + 1 : match.start("number")]
        denied = _NOT.search(sentence) or _CONDITION.match(text, match.end())
        if not denied and not ("name" in match.groupdict() and _is_other(match)):
            written, scale = written_in(match), _ON_SCALE.search(sentence)
            best = written.scale or (float(scale["best"]) if scale else None)
            kept.append(written._replace(scale=best))
    return kept


_LEADING = re.compile(rf"\A[^\w+-]*{NUMBER}{OUT_OF}(?=[^\w\s]|\s*[-–—(]|\s+[A-Za-z])")


def leading(text: str) -> list[WrittenNumber]:
    """The number with which an answer begins, its reason behind it: `4 - well built`.

    "1. ..." may as well be the first of a list that was not gone on with.
    """
    match = next(marks(_LEADING, text), None)
    if match is None or (match["number"] == "1" and BEGINS_ITEM.match(text, match.end("number"))):
        return []
    return [] if re.match(r"\s*,\s*\d", text[match.end() :]) else [written_in(match)]
