"""A user's files as rows: the one reader of every command and stage.

A row that cannot be read has a problem and no values; whoever reads the rows counts such rows and
refuses too many of them (`brido.utils.left_out`). What makes a whole file unreadable is a
BridoError.
"""

import csv
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from brido.utils.errors import BridoError, parsing, some
from brido.utils.extras import extra
from brido.utils.json_lines import HALF_PAIR, ROW, holds_half_pair, kind, parse_row
from brido.utils.text_files import STDIN, decoded_lines, ending_of, opened, undecoded

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
    path = Path("stdin" if name == STDIN else name)
    label, number = shown or path.name, 0
    with parsing(
        lambda reason: (
            f"{shown or path} cannot be read{f' behind row {number}' * bool(number)}: {reason}"
        )
    ):
        ending = ".jsonl" if name == STDIN else ending_of(path)
        with opened(name) as stream:
            if ending not in READERS:
                raise ValueError(
                    f"its ending is unknown; known are {', '.join(READERS)}, also with .gz or .zst"
                )
            for row in READERS[ending](label, stream):
                number += 1
                yield row
        if not number:
            raise BridoError(f"{shown or path} has no rows")


def first_rows(path: str | Path) -> list[dict[str, Any]]:
    """The first rows of a file that can be read, by which its columns are known.

    Raises:
        BridoError: as read_rows.
    """
    return [row.values for row in islice(read_rows(path), _FIRST_ROWS) if not row.problem]


def columns_of(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The columns that some of these rows have, in order."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _first_line(lines: Iterator[str], blank: str = "") -> tuple[int, str, Iterator[str]]:
    """The number and text of the first line with anything but `blank`, and the lines from it."""
    for number, line in enumerate(lines, 1):
        if line.strip(blank + " \t\r\n"):
            return number, line, chain([line], lines)
    return 0, "", iter(())


def _json(label: str, stream: io.BufferedReader) -> Iterator[Row]:
    start, first, lines = _first_line(decoded_lines(stream))
    if first.lstrip().startswith("["):
        yield from _array(label, "".join(lines))
        return
    if first.strip() == "{":
        with suppress(BridoError):
            _check_row(parse_row("".join(lines)))
        raise ValueError("an object stands on several lines: write one a line (`jq -c .` does)")
    for number, line in enumerate(lines, start):
        if not line.strip():
            continue
        place, problem, values = f"{label} line {number}", undecoded(line), {}
        try:
            values = {} if problem else parse_row(line)
        except BridoError as error:
            problem = str(error)
        if number == start:
            _check_row(values)
        yield Row(place, values, problem)


def _check_row(values: dict[str, Any]) -> None:
    """Raise ValueError, with the way out, if an object is a whole table in a well-known form."""
    columns, rows = values.get("columns", values.get("schema")), values.get("data")
    if isinstance(columns, list | dict) and isinstance(rows, list):
        raise ValueError(
            "one object holds the whole table, as pandas writes it with orient='split': write a "
            "row a line (to_json(PATH, orient='records', lines=True))"
        )
    answered = values.get("rows")
    first = answered[0] if isinstance(answered, list) and answered else values
    if isinstance(first, dict) and {"row", "truncated_cells"} <= first.keys():
        raise ValueError(
            "it is an answer of a data set viewer, which cuts long texts (truncated_cells): fetch "
            "the data set itself (data.source: hub), or its Parquet files"
        )


def _array(label: str, text: str) -> Iterator[Row]:
    if problem := undecoded(text):
        raise ValueError(problem)
    items = ROW.decode(text)
    if not items:
        raise ValueError("it is an empty array")
    for number, item in enumerate(items, 1):
        problem = HALF_PAIR if holds_half_pair(item) else ""
        if not isinstance(item, dict):
            problem = f"a JSON object is expected, not {kind(item)}"
        yield Row(f"{label} item {number}", {} if problem else item, problem)


def _csv(label: str, stream: io.BufferedReader) -> Iterator[Row]:
    """Rows under a header; quoted fields may hold delimiters, quotes ("") and newlines."""
    start, first, lines = _first_line(decoded_lines(stream), _DELIMITERS)
    header_signs = re.sub(r'"(?:[^"]|"")*"', "", first)
    if first.lower().startswith("sep="):
        raise ValueError("its first line is not the header: delete the line `sep=`")
    if "\r" in header_signs.rstrip("\r\n"):
        raise ValueError("its lines end in carriage returns alone: save it as CSV (UTF-8)")
    delimiter = max(_DELIMITERS, key=header_signs.count)
    # In a file of one column nothing parts: its commas need no quotes.
    yield from _delimited(label, lines, start, delimiter if delimiter in header_signs else "\x1f")


def _tsv(label: str, stream: io.BufferedReader) -> Iterator[Row]:
    start, _, lines = _first_line(decoded_lines(stream), "\t")
    yield from _delimited(label, lines, start, "\t")


def _delimited(label: str, lines: Iterator[str], start: int, delimiter: str) -> Iterator[Row]:
    """start: the number of the header's line."""
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
                yield _fields(place, header, fields, delimiter)
            place = f"{label} line {start + reader.line_num}"
    except csv.Error as error:
        raise ValueError(
            f"line {start + reader.line_num - 1} is not well-formed ({error}). Put quotes around a "
            'text that contains a quote or a newline, and write each quote in it twice ("")'
        ) from None


def _fields(place: str, header: Sequence[str], fields: Sequence[str], delimiter: str) -> Row:
    if len(fields) != len(header):
        return Row(
            place,
            {},
            f"{len(fields)} fields, but the header has {len(header)} (put quotes around a text "
            f"that contains {delimiter!r}, a quote or a newline)",
        )
    problem = next(filter(None, map(undecoded, fields)), "")
    return Row(place, {} if problem else dict(zip(header, fields, strict=True)), problem)


def _check_header(names: Sequence[str]) -> None:
    # Columns without a name, as a spreadsheet leaves them on the right, cannot be asked for.
    doubled = sorted({name for name in names if name and names.count(name) > 1})
    if doubled:
        raise ValueError(f"the header names {some(doubled)} more than once")
    if problem := undecoded("".join(names)):
        raise ValueError(f"the header is {problem}")


def _parquet(label: str, stream: io.BufferedReader) -> Iterator[Row]:
    with extra():
        import pyarrow.parquet as pq
    number = 0
    with pq.ParquetFile(stream, pre_buffer=False) as file:
        _check_header(file.schema_arrow.names)
        # Older writers mark no column as text. Lists and structures name the types of their parts.
        with_bytes = [column.name for column in file.schema_arrow if "binary" in str(column.type)]
        for batch in file.iter_batches(batch_size=256):
            for row in batch.to_pylist():
                number += 1
                row |= {name: _as_texts(row[name]) for name in with_bytes}
                yield Row(f"{label} row {number}", row)


def _as_texts(value: Any) -> Any:
    """Bytes as the text that they are, where they are UTF-8."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if isinstance(value, dict):
        return {name: _as_texts(one) for name, one in value.items()}
    return [_as_texts(one) for one in value] if isinstance(value, list) else value


# The formats of input, each with its reader: of what messages call the file, and its bytes.
READERS: dict[str, Callable[[str, io.BufferedReader], Iterator[Row]]] = {
    ".jsonl": _json,
    ".ndjson": _json,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _tsv,
    ".parquet": _parquet,
}
