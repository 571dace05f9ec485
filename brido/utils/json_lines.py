"""JSON from outside: a line as an object, repeated keys, and texts that UTF-8 cannot hold."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from types import NoneType
from typing import Any

from brido.utils.errors import BridoError, parsing, short, some

HALF_PAIR = "a text holds half of a surrogate pair (such as \\ud800), which is not a character"
_HALF_PAIR = re.compile("[\ud800-\udfff]")
# Larger whole numbers are not exact as floats.
_LARGEST_COUNT = 2**53


def parse_object(line: str | bytes, finite: bool = False) -> dict[str, Any]:
    """The JSON object that a line holds; BridoError says why it holds none.

    finite: refuse NaN, Infinity and numbers that become infinite (1e400), which no JSON can hold.
    """
    with parsing(lambda reason: f"not JSON ({reason})"):
        try:
            value = (
                _FINITE.decode(_text(line))
                if finite
                else json.loads(line, object_pairs_hook=_object)
            )
        except UnicodeDecodeError as error:
            raise BridoError(
                f"not UTF-8 (byte 0x{error.object[error.start]:02x}): save it as UTF-8 (for "
                "instance `iconv -f WINDOWS-1252 -t UTF-8`)"
            ) from None
        except json.JSONDecodeError as error:
            if "\n" in error.doc.strip():
                raise
            # Who reads lines names the line.
            column = min(error.pos, len(error.doc.rstrip())) + 1
            raise ValueError(f"{error.msg}: column {column}") from None
    if not isinstance(value, dict):
        raise BridoError(f"a JSON object is expected, not {kind(value)}")
    return value


def _text(line: str | bytes) -> str:
    return line if isinstance(line, str) else line.decode(json.detect_encoding(line))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{short(text)} is not a finite number: write null for none")
    return number


class Repeating(dict[str, Any]):
    """A JSON object that names a key twice; it has the last value, as everywhere.

    pairs: all its keys and values.
    """

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    @property
    def fault(self) -> str:
        """What is wrong with it."""
        counts = Counter(key for key, _ in self.pairs)
        return f"a key occurs twice ({some([key for key, count in counts.items() if count > 1])})"

    def text(self) -> str:
        """It as JSON, with every pair."""
        return "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(v)}" for key, v in self.pairs) + "}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else Repeating(pairs)


ANY = json.JSONDecoder(object_pairs_hook=_object)
_FINITE = json.JSONDecoder(parse_float=_finite, parse_constant=_finite, object_pairs_hook=_object)


def fault_of(row: dict[str, Any]) -> str:
    """What no row of a user's may have: a key twice, or half of a surrogate pair; "" for none."""
    if isinstance(row, Repeating):
        return row.fault
    return HALF_PAIR if holds_half_pair(row) else ""


def kind(value: Any) -> str:
    """What a value of JSON or Parquet is, in words: `a number`."""
    kinds = {str: "a text", bool: "true or false", list: "a list", dict: "an object",
             int | float: "a number", NoneType: "null", bytes: "bytes"}  # fmt: skip
    names = (name for known, name in kinds.items() if isinstance(value, known))
    return next(names, f"of type {type(value).__name__}")


def keys_of(record: dict[str, Any]) -> str:
    """The keys of a JSON object in a sentence: `It has the keys a, b`."""
    return f"It has the keys {some(list(record))}" if record else "It has no key"


def read_objects(
    lines: Iterable[bytes], finite: bool = False
) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Yield the number, the JSON object and the problem of each line that is not blank.

    The object is empty where there is a problem; the problem is empty where there is none. finite:
    see parse_object.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = parse_object(line, finite)
        except BridoError as error:
            yield number, {}, str(error)
        else:
            fault = fault_of(record)
            yield number, {} if fault else record, fault


def holds_half_pair(value: Any) -> bool:
    """Whether a text, or any text inside a JSON value, holds half of a surrogate pair.

    JSON can write one as an escape; as UTF-8 nothing can.
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item, *item.values()]
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str) and not item.isascii() and _HALF_PAIR.search(item):
            return True
    return False


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number that a float holds; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def count_of(value: Any) -> int | None:
    """The whole number from 0 to 2**53 that a stranger wrote, as a number or as text.

    None for anything else: negative, not finite, with a fraction, larger, true, not a number.
    """
    try:
        number = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if 0 <= number <= _LARGEST_COUNT and number.is_integer() else None


def whole_text(text: str) -> str:
    """The text with U+FFFD in place of every half of a surrogate pair."""
    return _HALF_PAIR.sub("\ufffd", text)
