"""A user's files as rows: the one reader of every command and stage.

A row that cannot be read has a problem and no values; whoever reads the rows counts such rows and
refuses too many of them (`brido.utils.left_out`). What makes a whole file unreadable is a
BridoError.
"""

import codecs
import csv
import gzip
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, cast

from brido.utils.errors import BridoError, parsing, some
from brido.utils.extras import extra
from brido.utils.json_lines import HALF_PAIR, ROW, holds_half_pair, kind, parse_row

STDIN = "-"
# Many writers of JSON leave a key out where it has no value: one row does not show all columns.
_FIRST_ROWS = 100
# What may part the columns of a CSV file; in a tie the first is meant.
_DELIMITERS = ",;\t|"
_NO_TEXT = (
    "it is not text in UTF-8: save a table as CSV (UTF-8), convert a text with `iconv -t UTF-8`, "
    "or correct the ending of its name"
)
# Bytes that are not UTF-8, as `surrogateescape` keeps them.
_UNDECODED = re.compile("[\udc80-\udcff]")


class Row(NamedTuple):
    """A row of a file: where it stands, its values by column, and what is wrong with it.

    values is empty where there is a problem, and problem is "" where there is none.
    """

    place: str
    values: dict[str, Any]
    problem: str = ""


def read_rows(name: str | Path, shown: str = "") -> Iterator[Row]:
    """The rows of a file, or of JSON lines on stdin (`-`), in order and in constant memory.

    The ending says the format (READERS); behind it may stand .gz or .zst. JSON is an object a line,
    or one array of objects, which is read whole. Columns of CSV are parted by commas, semicolons,
    tabs or bars. Text is UTF-8, or UTF-16 with a byte order mark. Values of CSV stay texts.

    shown: what messages call the file.

    Raises:
        BridoError: the file is missing or empty, has an unknown ending, or cannot be read as what
            its ending says.
    """
    path, number = Path("stdin" if name == STDIN else name), 0
    what = shown or str(path)
    ending = ".jsonl" if name == STDIN else ending_of(path)
    with (
        parsing(
            lambda reason: (
                f"{what} cannot be read{f' behind row {number}' * bool(number)}: {reason}"
            )
        ),
        opened(name) as stream,
    ):
        if ending not in READERS:
            known = ", ".join(READERS)
            raise ValueError(f"its ending is unknown; known are {known}, also with .gz or .zst")
        for row in READERS[ending](shown or path.name, stream):
            number += 1
            yield row
    if not number:
        raise BridoError(f"{what} has no rows")


def first_rows(path: str | Path) -> list[dict[str, Any]]:
    """The first rows of a file that can be read, by which its columns are known.

    Raises:
        BridoError: as read_rows.
    """
    return [row.values for row in islice(read_rows(path), _FIRST_ROWS) if not row.problem]


def columns_of(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The columns that some of these rows have, in order."""
    return list(dict.fromkeys(name for row in rows for name in row))


def text_lines(name: str | Path, shown: str = "") -> Iterator[str]:
    """The lines of a text file of any ending, or of stdin (`-`). shown: what messages call it.

    Raises:
        BridoError: it cannot be read, or is not text in UTF-8 or in UTF-16 with a byte order mark.
    """
    with (
        parsing(lambda reason: f"{shown or name} cannot be read: {reason}"),
        opened(name) as stream,
    ):
        for number, line in enumerate(_decoded(stream), 1):
            if problem := _undecoded(line):
                raise ValueError(f"line {number} is {problem}")
            yield line


def ending_of(path: Path) -> str:
    """The ending that says the format, in small letters, without that of a packer."""
    packed = path.suffix.lower() in (".gz", ".zst")
    return (path.with_suffix("") if packed else path).suffix.lower()


def standard_input() -> io.BufferedReader:
    """The bytes of stdin.

    Raises:
        BridoError: stdin is closed.
    """
    if sys.stdin is None:
        raise BridoError("stdin is closed: name a file, or give lines on stdin")
    return cast(io.BufferedReader, sys.stdin.buffer)


def opened(name: str | Path) -> AbstractContextManager[Any]:
    """A block with the bytes of a file (`-` for stdin), unpacked if it ends in .gz or .zst.

    Raises:
        ValueError: there is no such file, or it is not one.
    """
    if name == STDIN:
        return nullcontext(standard_input())
    path = Path(name)
    if not path.exists():
        raise ValueError("there is no such file")
    if not path.is_file():
        raise ValueError("it is a folder, a pipe or a device: name a file, or - for stdin")
    packed = path.suffix.lower()
    if packed == ".gz":
        return gzip.open(path)
    if packed == ".zst":
        with extra():
            import pyarrow as pa
        return io.BufferedReader(pa.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def begins_json(stream: io.BufferedReader) -> bool:
    """Whether a text begins as a JSON object or an array of objects or texts does."""
    start = stream.peek(64)
    text = start.decode("utf-16" if _is_utf16(start) else "utf-8-sig", "ignore")
    return re.match(r"\s*(\{|\[\s*([{\"\]]|\Z))", text) is not None


def _is_utf16(start: bytes) -> bool:
    return start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and start[2:4] != b"\0\0"


def _decoded(stream: io.BufferedReader) -> Iterator[str]:
    """The lines of a text; bytes that are not UTF-8 stay in them (see `_undecoded`)."""
    start = stream.peek(16)
    if _is_utf16(start):
        yield from io.TextIOWrapper(stream, encoding="utf-16", newline="\n")
        return
    # Excel and ZIP files, the old Office, gzip, zstd, Parquet; UTF-32, or no byte order mark.
    if b"\0" in start or start.startswith(
        (b"PK\3\4", b"\xd0\xcf", b"\x1f\x8b", b"\x28\xb5", b"PAR1")
    ):
        raise ValueError(_NO_TEXT)
    encoding = "utf-8-sig"
    for line in stream:
        yield line.decode(encoding, "surrogateescape")
        encoding = "utf-8"


def _undecoded(text: str) -> str:
    """What is wrong with a text that has bytes of another encoding than UTF-8; "" for none."""
    found = None if text.isascii() else _UNDECODED.search(text)
    return f"not UTF-8 (byte 0x{ord(found[0]) - 0xDC00:02x}): save it as UTF-8" if found else ""


def _from_first(lines: Iterator[str], blank: str = "") -> tuple[int, str, Iterator[str]]:
    """The number and text of the first line with anything but `blank`, and the lines from it."""
    for number, line in enumerate(lines, 1):
        if line.strip(blank + " \t\r\n"):
            return number, line, chain([line], lines)
    return 0, "", iter(())


def _json(label: str, stream: io.BufferedReader) -> Iterator[Row]:
    start, first, lines = _from_first(_decoded(stream))
    if first.lstrip().startswith("["):
        yield from _array(label, "".join(lines))
        return
    for number, line in enumerate(lines, start):
        if line.strip():
            place, problem = f"{label} line {number}", _undecoded(line)
            try:
                yield Row(place, {} if problem else parse_row(line), problem)
            except BridoError as error:
                yield Row(place, {}, str(error))


def _array(label: str, text: str) -> Iterator[Row]:
    if problem := _undecoded(text):
        raise ValueError(problem)
    for number, item in enumerate(ROW.decode(text), 1):
        problem = HALF_PAIR if holds_half_pair(item) else ""
        if not isinstance(item, dict):
            problem = f"a JSON object is expected, not {kind(item)}"
        yield Row(f"{label} item {number}", {} if problem else item, problem)


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
                problem = next(filter(None, map(_undecoded, fields)), "")
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
    if problem := _undecoded("".join(names)):
        raise ValueError(f"the header is {problem}")


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
