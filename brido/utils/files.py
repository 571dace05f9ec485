"""A user's files as rows: the one reader of every command and stage.

A row that cannot be read has a problem and no values; whoever reads the rows counts such rows and
refuses too many of them (`brido.utils.rows.LeftOut`). What makes a whole file unreadable is a
BridoError.
"""

import codecs
import csv
import gzip
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, cast

from brido.utils.errors import BridoError, first_line, parsing, quoted, some
from brido.utils.extras import extra
from brido.utils.rows import NOT_UNICODE, is_unicode, kind

# Many writers of JSON leave a key out where it has no value: one row does not show all columns.
_FIRST_ROWS = 100
# What may part the columns of a CSV file; in a tie the first is meant.
_DELIMITERS = ",;\t|"


class Row(NamedTuple):
    """A row of a file: where it stands, its values by column, and what is wrong with it.

    values is empty where there is a problem, and problem is "" where there is none.
    """

    place: str
    values: dict[str, Any]
    problem: str = ""


def read_rows(path: Path, shown: str = "") -> Iterator[Row]:
    """The rows of a file, in order and in constant memory.

    The ending says the format (READERS); behind it may stand .gz or .zst. JSON is an object a line,
    or one array of objects, which is read whole. Columns of CSV are parted by commas, semicolons,
    tabs or bars. Text is UTF-8, or UTF-16 with a byte order mark. Values of CSV stay texts.

    shown: what messages call the file.

    Raises:
        BridoError: the file is missing or empty, has an unknown ending, or cannot be read as what
            its ending says.
    """
    what, number = shown or str(path), 0
    with (
        parsing(
            lambda reason: (
                f"{what} cannot be read{f' behind row {number}' * bool(number)}: {reason}"
            )
        ),
        _opened(path) as stream,
    ):
        ending = ending_of(path)
        if ending not in READERS:
            known = ", ".join(READERS)
            raise ValueError(f"its ending is unknown; known are {known}, also with .gz or .zst")
        for row in READERS[ending](shown or path.name, stream):
            number += 1
            yield row
    if not number:
        raise BridoError(f"{what} has no rows")


def first_rows(path: Path) -> list[dict[str, Any]]:
    """The first rows of a file that can be read, by which its columns are known.

    Raises:
        BridoError: as read_rows.
    """
    return [row.values for row in islice(read_rows(path), _FIRST_ROWS) if not row.problem]


def columns_of(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The columns that some of these rows have, in order."""
    return list(dict.fromkeys(name for row in rows for name in row))


def text_lines(path: Path, shown: str = "") -> Iterator[str]:
    """The lines of a text file of any ending. shown: what messages call it.

    Raises:
        BridoError: it cannot be read, or is not text in UTF-8 or in UTF-16 with a byte order mark.
    """
    with (
        parsing(lambda reason: f"{shown or path} cannot be read: {reason}"),
        _opened(path) as stream,
    ):
        for number, line in enumerate(_decoded(stream), 1):
            if not is_unicode(line):
                raise ValueError(f"line {number}: {NOT_UNICODE}")
            yield line


def ending_of(path: Path) -> str:
    """The ending that says the format, in small letters, without that of a packer."""
    packed = path.suffix.lower() in (".gz", ".zst")
    return (path.with_suffix("") if packed else path).suffix.lower()


def _opened(path: Path) -> io.BufferedReader:
    """The bytes of a file, unpacked if it ends in .gz or .zst; ValueError if it is not a file."""
    if not path.exists():
        raise ValueError("there is no such file")
    if not path.is_file():
        raise ValueError("it is a folder, a pipe or a device: name a file, or - for stdin")
    packed = path.suffix.lower()
    if packed == ".gz":
        return cast(io.BufferedReader, gzip.open(path))
    if packed == ".zst":
        with extra():
            import pyarrow as pa
        return io.BufferedReader(pa.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def _decoded(stream: io.BufferedReader) -> io.TextIOWrapper:
    """The lines of a text; bytes that are not UTF-8 become what `is_unicode` finds."""
    start = stream.peek(1024)[:1024]
    wide = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    # Text has no zero bytes. Spreadsheets, archives and Parquet do.
    if not wide and b"\0" in start:
        raise ValueError(
            "it is not text in UTF-8: save a table as CSV (UTF-8), convert a text with `iconv -t "
            "UTF-8`, or correct the ending of its name"
        )
    encoding = "utf-16" if wide else "utf-8-sig"
    return io.TextIOWrapper(stream, encoding, "surrogateescape", newline="\n")


def _from_first(lines: Iterator[str], blank: str = "") -> tuple[int, str, Iterator[str]]:
    """The number and text of the first line with anything but `blank`, and the lines from it."""
    for number, line in enumerate(lines, 1):
        if line.strip(blank + " \t\r\n"):
            return number, line, chain([line], lines)
    return 0, "", iter(())


def _json(label: str, stream: io.BufferedReader) -> Iterator[Row]:
    start, first, lines = _from_first(_decoded(stream))
    if first.lstrip().startswith("["):
        for number, item in enumerate(_JSON.decode("".join(lines)), 1):
            yield _object(f"{label} item {number}", item)
        return
    for number, line in enumerate(lines, start):
        if line.strip():
            place = f"{label} line {number}"
            try:
                yield _object(place, _JSON.decode(line))
            except (ValueError, RecursionError) as error:
                # The place in the line would be told as that of the file.
                reason = getattr(error, "msg", first_line(error))
                yield Row(place, {}, f"not JSON, one object a line ({reason})")


def _object(place: str, value: Any) -> Row:
    problem = "" if is_unicode(value) else NOT_UNICODE
    if not isinstance(value, dict):
        problem = f"a JSON object is expected, not {kind(value)}"
    return Row(place, {} if problem else value, problem)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {quoted(twice)} occurs twice in one object")
    return dict(pairs)


_JSON = json.JSONDecoder(object_pairs_hook=_unique)


def _csv(label: str, stream: io.BufferedReader) -> Iterator[Row]:
    """Rows under a header; quoted fields may hold delimiters, quotes ("") and newlines."""
    start, first, lines = _from_first(_decoded(stream), _DELIMITERS)
    signs = re.sub(r'"(?:[^"]|"")*"', "", first)
    delimiter = max(_DELIMITERS, key=signs.count)
    if delimiter not in signs:
        delimiter = "\x1f"  # in a file of one column nothing parts: its commas need no quotes
    csv.field_size_limit(sys.maxsize)
    # People write a space behind a comma; behind a tab it may be a text's own.
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter != "\t", strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(header)
        place = f"{label} line {start + reader.line_num}"
        for fields in reader:
            # Spreadsheets write rows of empty cells below a table.
            if any(map(str.strip, fields)):
                problem = "" if is_unicode(fields) else NOT_UNICODE
                if len(fields) != len(header):
                    problem = (
                        f"{len(fields)} fields, but the header has {len(header)} (put quotes "
                        f"around a text that contains {delimiter!r}, a quote or a newline)"
                    )
                yield Row(place, {} if problem else dict(zip(header, fields, strict=True)), problem)
            place = f"{label} line {start + reader.line_num}"
    except csv.Error as error:
        raise ValueError(
            f"line {start + reader.line_num - 1} is not well-formed ({error}). Put quotes around a "
            'text that contains a quote or a newline, and write each quote in it twice ("")'
        ) from None


def _check_header(names: list[str]) -> None:
    # Columns without a name, as a spreadsheet leaves them on the right, cannot be asked for.
    doubled = sorted({name for name in names if name and names.count(name) > 1})
    if doubled:
        raise ValueError(f"the header names {some(doubled)} more than once")
    if not is_unicode(names):
        raise ValueError(f"the header: {NOT_UNICODE}")


def _parquet(label: str, stream: io.BufferedReader) -> Iterator[Row]:
    with extra():
        import pyarrow.parquet as pq
    with pq.ParquetFile(stream, pre_buffer=False) as file:
        _check_header(file.schema_arrow.names)
        batches = (batch.to_pylist() for batch in file.iter_batches(batch_size=256))
        for number, row in enumerate(chain.from_iterable(batches), 1):
            yield Row(f"{label} row {number}", row)


# The formats of input, each with its reader: of what messages call the file, and its bytes.
READERS: dict[str, Callable[[str, io.BufferedReader], Iterator[Row]]] = {
    ".jsonl": _json,
    ".ndjson": _json,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
}
