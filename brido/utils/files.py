"""Rows of JSONL, CSV, TSV and Parquet files as streams, and what can be wrong with such files.

Every reader yields (place, row): where the row stands, for messages, and a dictionary by column.
Whatever a parser raises becomes a BridoError that says where.
"""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, parsing, some
from brido.utils.extras import extra
from brido.utils.json_files import are_lines, array_or_lines, first_line, is_spread, items_of
from brido.utils.json_lines import fault_of, kind, parse_object
from brido.utils.outputs import standard_input
from brido.utils.text_files import COMPRESSIONS, ending_of, open_text, text_lines

Rows = Iterator[tuple[str, dict[str, Any]]]

_TEXTS = (".txt", ".text", ".md", ".html", ".htm")
# Many writers of JSON leave a key out where it has no value: one row does not show all columns.
_FIRST_ROWS = 100
# What may part the columns of a CSV file, the usual one first.
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# What parts nothing, in a file of one column: its commas need no quotes where semicolons part.
_NOTHING = "\x1f"


def read_file(path: Path) -> Rows:
    """Return the rows of a file, in order, in constant memory.

    The ending says the format: .jsonl, .ndjson or .json (an object a line, or one array of objects,
    which is read whole), .csv (its columns parted by commas, semicolons or tabs), .tsv, .parquet.
    All but Parquet may be compressed (.gz, .zst). Text is UTF-8, or UTF-16 with a byte order mark.

    A JSON object that names a key twice is a `json_lines.Repeating`.

    Raises:
        BridoError: an unknown ending, a file that is missing, empty, truncated, of another encoding
            or not of its format; the message says where.
    """
    ending = ending_of(path)
    if ending == ".parquet":
        if path.suffix.lower() in COMPRESSIONS:
            raise BridoError(
                f"{path}: unpack it first, because Parquet is already compressed inside"
            )
        return _parquet(path)
    readers: dict[str, Callable[[Path, Iterator[str]], Rows]] = {
        ".jsonl": _json_lines,
        ".ndjson": _json_lines,
        ".json": _json_lines,
        ".csv": lambda path, stream: _delimited(path, stream, None),
        ".tsv": lambda path, stream: _delimited(path, stream, "\t"),
    }
    if ending not in readers:
        if not path.exists():
            raise BridoError(f"{path}: there is no such file")
        if path.is_dir():
            raise BridoError(f"{path} is a folder: name a file in it")
        known = ", ".join([*readers, ".parquet"])
        way_out = (
            "A text has no columns: write JSON lines, an object with the document and its summary "
            "for each text"
            if ending in _TEXTS
            else "Save a table of Excel as CSV (UTF-8)"
        )
        raise BridoError(
            f"{path}: its ending is unknown; known are {known}, also with .gz or .zst. {way_out}"
        )
    return _text(path, readers[ending])


def first_rows(path: Path) -> list[dict[str, Any]]:
    """The first rows of a file, by which its columns are known.

    Raises:
        BridoError: as read_file.
    """
    return [row for _, row in islice(read_file(path), _FIRST_ROWS)]


def columns_of(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The columns that some of these rows have, in order."""
    return list(dict.fromkeys(name for row in rows for name in row))


def read_records(path: Path) -> list[dict[str, Any]]:
    """All rows of a file that `read_file` reads, for files that fit in memory.

    Raises:
        BridoError: as read_file, or a row has a fault (`json_lines.fault_of`).
    """
    records = []
    for place, row in read_file(path):
        if fault := fault_of(row):
            raise BridoError(f"{path}: {place}: {fault}")
        records.append(row)
    return records


@contextmanager
def input_lines(name: str) -> Iterator[Iterator[bytes]]:
    """The JSON lines of a file, unpacked if it ends in .gz or .zst; those of stdin for `-`.

    They may also be UTF-16 with a byte order mark, one array of objects, or objects of several
    lines each: each is then a line. So is each row of a Parquet file.

    Raises:
        BridoError: the file cannot be read, holds other data than text, or is CSV by its name.
    """
    if name == "-":
        yield _one_a_line(Path("stdin"), standard_input())
        return
    path = Path(name)
    ending = ending_of(path)
    if ending == ".parquet":
        yield _rows_as_json(path)
        return
    if ending in (".csv", ".tsv") and path.exists():
        raise BridoError(
            f"{path}: this command reads JSON lines or Parquet, and {ending[1:].upper()} has no "
            "lists: write one object a line"
        )
    with parsing(lambda reason: f"{path}: {reason}; `-` reads from stdin"):
        opened = open_text(path)
    with opened as stream:
        yield _one_a_line(path, stream)


def _rows_as_json(path: Path) -> Iterator[bytes]:
    """The rows of a Parquet file as JSON lines; dates and decimal numbers become texts."""
    for place, row in _parquet(path):
        yield json.dumps(row, default=partial(_as_json, f"{path}: {place}")).encode()


def _as_json(where: str, value: Any) -> str:
    if isinstance(value, bytes):
        raise BridoError(f"{where} holds bytes that are not UTF-8: leave their column out")
    return str(value)


def _one_a_line(path: Path, stream: io.BufferedReader) -> Iterator[bytes]:
    """JSON lines as they are; of an array, or of objects of several lines, a line each."""
    with parsing(lambda reason: f"{path}: {reason}"):
        if are_lines(stream):
            yield from stream
            return
        for row in array_or_lines(path, text_lines(path, stream)):
            yield row.encode("utf-8", "surrogatepass")


def _text(path: Path, read: Callable[[Path, Iterator[str]], Rows]) -> Rows:
    """The rows that `read` finds in a text file; what goes wrong below it becomes a BridoError."""
    number = 0

    def unreadable(reason: str) -> str:
        after = f" after row {number}" if number else ""
        return f"{path} is unreadable{after}: {reason}"

    with parsing(unreadable):
        with open_text(path) as stream:
            for place, row in read(path, text_lines(path, stream)):
                number += 1
                yield place, row
        if not number:
            raise BridoError(f"{path} has no rows")


def _json_lines(path: Path, stream: Iterator[str]) -> Rows:
    first, lines = first_line(stream)
    if is_spread(first):
        for number, item in enumerate(items_of(path, lines), 1):
            if not isinstance(item, dict):
                raise BridoError(
                    f"{path}: item {number}: a JSON object is expected, not {kind(item)}"
                )
            yield f"{path.name} item {number}", item
        return
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = parse_object(line)
        except BridoError as error:
            raise BridoError(f"{path}: line {number}: {error}{_advice(line, first)}") from None
        yield f"{path.name} line {number}", row


def _advice(line: str, first: str) -> str:
    """What is likely to be wrong with a line that holds no object."""
    if first.strip() in ("{", "[") or (line == first and not line.rstrip().endswith("}")):
        return "; write one object a line, or one array of objects"
    return "" if line.endswith("\n") else "; it is the file's last line: is it cut off?"


def _delimited(path: Path, stream: Iterator[str], delimiter: str | None) -> Rows:
    """Rows under a header; quoted fields may hold delimiters, quotes ("") and newlines."""
    csv.field_size_limit(sys.maxsize)
    skipped = 0  # lines above the header: blank ones, and the one that says what parts columns
    for first in stream:
        if not _is_blank(first):
            break
        skipped += 1
    else:
        first = ""
    lines: Iterator[str] = chain([first] if first else [], stream)
    if "\r" in _unquoted(first).rstrip("\r\n"):
        # Excel's CSV for the Macintosh ends lines with a carriage return alone.
        first, lines = first_line(part for line in lines for part in re.split(r"(?<=\r)", line))
    if delimiter is None:
        delimiter, is_said = _delimiter_of(first)
        if is_said:
            skipped += 1
            next(lines)
    # People write a space behind a comma; behind a tab it may be a text's own.
    spaced = delimiter != "\t"
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=spaced, strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise BridoError(f"{path} is empty: its first line must name the columns")
        header = [name.strip() for name in header]
        _check_header(path, header)
        start = skipped + reader.line_num + 1
        for fields in reader:
            # Spreadsheets write rows of empty cells below a table.
            if any(map(str.strip, fields)):
                if len(fields) != len(header):
                    raise BridoError(
                        f"{path}: line {start} has {len(fields)} fields, the header {len(header)}. "
                        'Put quotes ("...") around a text that contains a '
                        f"{_DELIMITERS.get(delimiter, 'control character')}, a quote or a newline"
                    )
                yield f"{path.name} line {start}", dict(zip(header, fields, strict=True))
            start = skipped + reader.line_num + 1
    except csv.Error as error:
        raise BridoError(
            f"{path}: line {skipped + reader.line_num} is not well-formed ({error}): is a quote "
            "open, or the file cut off? A text that begins with a quote, or holds a newline or "
            'carriage return, stands in quotes, and each quote in it is written twice ("")'
        ) from None


def _check_header(path: Path, names: Sequence[str]) -> None:
    # Columns without a name, as a spreadsheet leaves them on the right, cannot be asked for.
    doubled = sorted({name for name in names if name and names.count(name) > 1})
    if doubled:
        raise BridoError(f"{path}: the header names {some(doubled)} more than once")


def _delimiter_of(header: str) -> tuple[str, bool]:
    """What parts the columns of a CSV file, and whether its first line does nothing but say so.

    Excel writes semicolons where numbers have a decimal comma, and `sep=;` on a line of its own.
    """
    if said := re.fullmatch(r"sep=([,;\t|])\s*", header, re.IGNORECASE):
        return said[1], True
    if not any(sign in _unquoted(header) for sign in _DELIMITERS):
        return _NOTHING, False
    # In a tie the comma, which comes first, is meant.
    return max(_DELIMITERS, key=_unquoted(header).count), False


def _is_blank(line: str) -> bool:
    return not line.strip("".join(_DELIMITERS) + " \r\n")


def _unquoted(line: str) -> str:
    return re.sub(r'"(?:[^"]|"")*"', "", line)


def _parquet(path: Path) -> Rows:
    with extra():
        import pyarrow.parquet as pq
    number = 0
    with (
        parsing(
            lambda reason: f"{path} is not a readable Parquet file after row {number}: {reason}"
        ),
        pq.ParquetFile(path, pre_buffer=False) as file,
    ):
        schema = file.schema_arrow
        _check_header(path, schema.names)
        # Also in lists and structures, whose types name those of their parts.
        with_bytes = [column.name for column in schema if "binary" in str(column.type)]
        for batch in file.iter_batches(batch_size=256):
            for row in batch.to_pylist():
                number += 1
                row |= {name: _as_texts(row[name]) for name in with_bytes}
                yield f"{path.name} row {number}", row


def _as_texts(value: Any) -> Any:
    """Bytes as the text that they are: older writers of Parquet mark no column as text."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if isinstance(value, dict):
        return {name: _as_texts(one) for name, one in value.items()}
    return [_as_texts(one) for one in value] if isinstance(value, list) else value
