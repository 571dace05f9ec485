"""What a YAML parser found wrong, in words: the line, its text, and the usual cause."""

import re

from ruamel.yaml import YAMLError

from brido.utils.errors import first_line, short

_KEY = re.compile(r":(\s|$)")
_COLON = "A key needs a colon and a blank behind it, as `alpha: 0`"
_COLUMN = (
    "The keys of one section must start in the same column, and a text with a colon and a blank in "
    "it needs quotes"
)
_EMPTY = (
    "An empty section stands on its key's line, as `variants: {}`. DVC breaks the line where "
    "`-S '~KEY'` removes the last key of a section, so write that in params.yaml yourself"
)
_BLOCK = "The keys of one section must start in the same column, and a bracket needs its partner"
# Parts of the parser's words, and what usually causes them.
_CAUSES = {
    "could not find expected ':'": _COLON,
    "mapping values are not allowed": _COLUMN,
    "<block end>": _BLOCK,
    r"'\t' that cannot start": "Indent with blanks, not with a tab",
    "that cannot start any token": "A text that starts with such a character needs quotes",
    "end of stream": "A quote opens here and does not close",
    "expected ',' or": "A bracket opens here and does not close",
    "<stream end>": "A bracket opens here and does not close",
    "duplicate key": "The key stands twice in its section: delete one of the two lines",
}
# For these the parser looks back: the mistake is where it began to read.
_BEGINS = ("could not find expected ':'", "end of stream", "expected ',' or")


def yaml_problem(error: YAMLError, text: str) -> str:
    """Return what is wrong with a YAML text: `Line 3 is "alpha 0". A key needs a colon ...`."""
    problem = getattr(error, "problem", None) or ""
    begins = any(part in problem for part in _BEGINS)
    mark = (begins and getattr(error, "context_mark", None)) or getattr(error, "problem_mark", None)
    cause = next((words for part, words in _CAUSES.items() if part in problem), "")
    if mark is None:
        return f"{first_line(error)}."
    lines = text.splitlines()
    place = min(mark.line, len(lines) - 1)
    if cause in (_COLUMN, _BLOCK) and (before := _before(lines, place)) is not None:
        place, cause = before, _COLON
    if lines[place] == "{}":
        cause = _EMPTY
    return f'Line {place + 1} is "{short(lines[place].strip())}". {cause or problem}.'


def _before(lines: list[str], place: int) -> int | None:
    """The line before `place` that holds something, if what it holds has no key's colon."""
    for index in range(place - 1, -1, -1):
        held = lines[index].partition(" #")[0].strip()
        if held and not held.startswith("#"):
            return None if _KEY.search(held) else index
    return None
