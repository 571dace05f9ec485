"""JSON files whose objects do not stand a line each: one array, or objects of several lines."""

import io
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, parsing
from brido.utils.json_lines import ANY, Repeating
from brido.utils.text_files import marked_encoding

_BLANKS = re.compile(r"\s*")
# An array of objects or texts; peeked bytes may end behind its bracket.
_ARRAY = r"\[\s*([{\"\]]|\Z)"
# An array, or an object of several lines, as jq writes it.
_SPREAD = re.compile(rf"\s*({_ARRAY}|\{{[ \t\r]*\n)")
_JSON = re.compile(rf"\s*({_ARRAY}|\{{)")


def are_lines(stream: io.BufferedReader) -> bool:
    """Whether a file is UTF-8, and neither one array nor objects of several lines."""
    start = stream.peek(64)
    return marked_encoding(start) is None and not _SPREAD.match(_decoded(start))


def begins_json(stream: io.BufferedReader) -> bool:
    """Whether a text begins as JSON objects or an array do; one of texts is for who reads it."""
    return bool(_JSON.match(_decoded(stream.peek(64))))


def _decoded(start: bytes) -> str:
    return start.decode(marked_encoding(start) or "utf-8-sig", "ignore")


def is_spread(first: str) -> bool:
    """Whether the first line with anything begins an array, or an object of several lines."""
    return first.lstrip().startswith("[") or first.strip() == "{"


def array_or_lines(path: Path, lines: Iterator[str]) -> Iterator[str]:
    """Lines of JSON: those of a file, or one for each item of its array and object."""
    first, lines = first_line(lines)
    if not is_spread(first):
        yield from lines
        return
    for item in items_of(path, lines):
        # A key that occurs twice is told by who reads the line.
        repeats = isinstance(item, Repeating)
        yield item.text() if repeats else json.dumps(item, ensure_ascii=False)


def first_line(lines: Iterator[str]) -> tuple[str, Iterator[str]]:
    """The first line that is not blank, and all lines."""
    read = []
    for line in lines:
        read.append(line)
        if line.strip():
            break
    return (read[-1] if read else ""), chain(read, lines)


def items_of(path: Path, lines: Iterator[str]) -> list[Any]:
    """The items of a file that is one JSON array, or its objects, which may have many lines."""
    text, items, end = "".join(lines).strip(), list[Any](), 0
    with parsing(
        lambda reason: (
            f"{path}: not JSON ({reason}): write one object a line, or one array of objects"
        )
    ):
        while end < len(text):
            value, end = ANY.raw_decode(text, end)
            items += value if isinstance(value, list) else [value]
            end = _BLANKS.match(text, end).end()  # type: ignore[union-attr]  # it always matches
    if not items:
        raise BridoError(f"{path} is an empty array: it has no rows")
    return items
