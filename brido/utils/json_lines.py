"""JSON from outside: a line as an object, and what its values are."""

import json
from types import NoneType
from typing import Any

from brido.utils.errors import BridoError, parsing, quoted, some

HALF_PAIR = "a text holds half of a surrogate pair (such as \\ud800), which is not a character"


def parse_row(line: str) -> dict[str, Any]:
    """The JSON object in a line of a user's file.

    Raises:
        BridoError: it is not JSON or not an object, a key occurs twice, or a text cannot be
            written as UTF-8.
    """
    with parsing(lambda reason: f"not JSON, one object a line ({reason})"):
        try:
            row = ROW.decode(line)
        except json.JSONDecodeError as error:
            raise ValueError(error.msg) from None  # the place is that of the line
    if not isinstance(row, dict):
        raise BridoError(f"a JSON object is expected, not {kind(row)}")
    # Only an escape can spell half of a pair.
    if "\\u" in line and holds_half_pair(row):
        raise BridoError(HALF_PAIR)
    return row


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for name, value in pairs:
        if name in seen:
            raise ValueError(f"the key {quoted(name)} occurs twice in one object")
        seen[name] = value
    return seen


# How a user's rows are decoded.
ROW = json.JSONDecoder(object_pairs_hook=_unique)


def kind(value: Any) -> str:
    """What a value of JSON or Parquet is, in words: `a number`."""
    kinds = {str: "a text", bool: "true or false", list: "a list", dict: "an object",
             int: "a number", float: "a number", NoneType: "null"}  # fmt: skip
    return kinds.get(type(value), type(value).__name__)


def keys_of(record: dict[str, Any]) -> str:
    """The keys of a JSON object in a sentence: `It has the keys a, b`."""
    return f"It has the keys {some(list(record))}" if record else "It has no key"


def holds_half_pair(value: Any) -> bool:
    """Whether a text, or any text inside a JSON value, holds half of a surrogate pair.

    JSON can write one as an escape; as UTF-8 nothing can.
    """
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return True
    return False


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number that a float holds; true and false are none."""
    return type(value) in (int, float) and abs(value) < 1e300


def texts_problem(row: dict[str, Any]) -> str:
    """What is wrong with the texts of a row of candidates in a user's file, or ""."""
    if "candidates" not in row:
        return f"the key `candidates` is missing. {keys_of(row)}"
    candidates = row["candidates"]
    if not isinstance(candidates, list):
        return f"`candidates` is {kind(candidates)}, but must be a list of texts"
    for place, text in enumerate(candidates, 1):
        if not isinstance(text, str):
            return f"`candidates` must be texts: candidate {place} is {kind(text)}"
    return ""
