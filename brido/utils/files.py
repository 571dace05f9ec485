"""Rows of JSONL, CSV, TSV and Parquet files as streams, and what can be wrong with such files.

Every reader yields (place, row): where the row stands, for messages, and a dictionary by column.
Whatever a parser raises becomes a BridoError that says where.
"""

import csv
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from brido.utils.errors import BridoError, parsing, some
from brido.utils.extras import extra
from brido.utils.json_lines import HALF_PAIR, holds_half_pair, parse_object
from brido.utils.outputs import COMPRESSIONS, standard_input

Rows = Iterator[tuple[str, dict[str, Any]]]


def read_file(path: Path) -> Rows:
    """Return the rows of a file, in order, in constant memory.

    The ending says the format: .jsonl, .ndjson or .json (an object a line), .csv, .tsv, .parquet;
    all but Parquet may be compressed (.gz, .zst). Text is UTF-8, with or without a byte order mark.

    Raises:
        BridoError: an unknown ending, a file that is missing, empty, truncated, not UTF-8 or not
            of its format; the message says where.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    ending = suffixes[-2] if compression and len(suffixes) > 1 else (suffixes or [""])[-1]
    if ending == ".parquet":
        if compression:
            raise BridoError(
                f"{path}: unpack it first, because Parquet is already compressed inside"
            )
        return _parquet(path)
    readers: dict[str, Callable[[Path, Iterator[str]], Rows]] = {
        ".jsonl": _json_lines,
        ".ndjson": _json_lines,
        ".json": _json_lines,
        ".csv": lambda path, stream: _delimited(path, stream, ","),
        ".tsv": lambda path, stream: _delimited(path, stream, "\t"),
    }
    if ending not in readers:
        if not path.exists():
            raise BridoError(f"{path}: there is no such file")
        known = ", ".join([*readers, ".parquet"])
        raise BridoError(f"{path}: its ending is unknown; known are {known}, also with .gz or .zst")
    return _text(path, compression, readers[ending])


def read_records(path: Path) -> list[dict[str, Any]]:
    """All rows of a file that `read_file` reads, for files that fit in memory.

    Raises:
        BridoError: as read_file, or a text of a row holds half of a surrogate pair.
    """
    records = []
    for place, row in read_file(path):
        if holds_half_pair(row):
            raise BridoError(f"{path}: {place}: {HALF_PAIR}")
        records.append(row)
    return records


@contextmanager
def input_lines(name: str) -> Iterator[Iterator[bytes]]:
    """The lines of a file, unpacked if it ends in .gz or .zst; those of stdin for `-`.

    Raises:
        BridoError: the file cannot be read.
    """
    if name == "-":
        yield iter(standard_input())
        return
    path = Path(name)
    compression = COMPRESSIONS.get(path.suffix.lower())

    def unreadable(reason: str) -> str:
        return f"{path}: {reason}; `-` reads from stdin"

    def lines() -> Iterator[bytes]:
        with parsing(unreadable):
            yield from stream

    with parsing(unreadable):
        opened = _opened(path, compression)
    with opened as stream:
        yield lines()


def _text(path: Path, compression: str | None, read: Callable[[Path, Iterator[str]], Rows]) -> Rows:
    """The rows that `read` finds in a text file; what goes wrong below it becomes a BridoError."""
    number = 0

    def unreadable(reason: str) -> str:
        after = f" after row {number}" if number else ""
        return f"{path} is unreadable{after}: {reason}"

    with parsing(unreadable):
        with _opened(path, compression) as stream:
            for place, row in read(path, _lines(path, stream)):
                number += 1
                yield place, row
        if not number:
            raise BridoError(f"{path} has no rows")


def _lines(path: Path, stream: BinaryIO) -> Iterator[str]:
    for number, line in enumerate(stream, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise BridoError(
                f"{path}: line {number} is not UTF-8 (byte 0x{line[error.start]:02x}): save it as "
                "UTF-8 (for instance `iconv -f WINDOWS-1252 -t UTF-8`)"
            ) from None


def _opened(path: Path, compression: str | None) -> BinaryIO:
    if compression is None:
        return path.open("rb")
    with extra("pipeline"):
        import pyarrow as pa
    return io.BufferedReader(pa.input_stream(str(path), compression=compression))


def _json_lines(path: Path, stream: Iterator[str]) -> Rows:
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            row = parse_object(line)
        except BridoError as error:
            cut = "" if line.endswith("\n") else "; it is the file's last line: is it cut off?"
            raise BridoError(f"{path}: line {number}: {error}{cut}") from None
        yield f"{path.name} line {number}", row


def _delimited(path: Path, stream: Iterator[str], delimiter: str) -> Rows:
    """Rows under a header; quoted fields may hold delimiters, quotes ("") and newlines."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(stream, delimiter=delimiter, strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise BridoError(f"{path} is empty: its first line must name the columns")
        doubled = sorted({name for name in header if header.count(name) > 1})
        if doubled:
            raise BridoError(f"{path}: the header names {some(doubled)} more than once")
        start = reader.line_num + 1
        for fields in reader:
            if fields:
                if len(fields) != len(header):
                    raise BridoError(
                        f"{path}: line {start} has {len(fields)} fields, the header {len(header)}. "
                        'Put quotes ("...") around a text that contains a '
                        f"{'tab' if delimiter != ',' else 'comma'}, a quote or a newline"
                    )
                yield f"{path.name} line {start}", dict(zip(header, fields, strict=True))
            start = reader.line_num + 1
    except csv.Error as error:
        raise BridoError(
            f"{path}: line {reader.line_num} is not well-formed ({error}): "
            "is a quote open, or the file cut off?"
        ) from None


def _parquet(path: Path) -> Rows:
    with extra("pipeline"):
        import pyarrow.parquet as pq
    number = 0
    with (
        parsing(
            lambda reason: f"{path} is not a readable Parquet file after row {number}: {reason}"
        ),
        pq.ParquetFile(path, pre_buffer=False) as file,
    ):
        for batch in file.iter_batches(batch_size=256):
            for row in batch.to_pylist():
                number += 1
                yield f"{path.name} row {number}", row
