"""The rows of a command's files: bad ones are counted, and too many of them end the command."""

import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from brido.utils.errors import BridoError
from brido.utils.files import Row, read_rows
from brido.utils.outputs import json_line
from brido.utils.progress import say
from brido.utils.rows import Ids, LeftOut, id_text

STDIN = "-"
Values = dict[str, Any]
# The rows of a file; the text is what messages call it, "" for its own name.
Reader = Callable[[Path, str], Iterator[Row]]


@contextmanager
def good_rows(
    files: str | Sequence[str],
    fault: Callable[[Values], str],
    max_bad: float,
    command: str,
    read: Reader = read_rows,
    named: bool = False,
) -> Iterator[Iterator[Values]]:
    """A block with the values of the good rows; all rows were looked at before it begins.

    files: `-` is stdin. fault: what is wrong with the values of a row, or "". max_bad: the share of
    rows that may be left out. command: its name, for messages. named: a row whose `id` is missing
    or was seen before is bad; one without the key gets its number, and all ids are texts.

    Raises:
        BridoError: files cannot be read (all named), or too many rows are bad, or all; the first
            ones are named.
    """
    names = [files] if isinstance(files, str) else list(files)
    shown = ", ".join("stdin" if name == STDIN else name for name in names)
    left_out, bad, number, problems, ids = LeftOut(), set[int](), 0, list[str](), Ids()
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as copy:
        # Stdin can be read only once.
        if STDIN in names:
            shutil.copyfileobj(standard_input(), copy)
            copy.flush()
        stdin = (Path(copy.name), "stdin")
        places = [stdin if name == STDIN else (Path(name), "") for name in names]
        for path, label in places:
            try:
                for row in read(path, label):
                    number += 1
                    found = row.problem or fault(row.values)
                    if named and not found:
                        found = ids.fault(row.values.get("id", number))
                    if found:
                        left_out.note(found, row.place)
                        bad.add(number)
            except BridoError as error:
                problems.append(str(error))
        if problems:
            raise BridoError("\n".join(problems))
        if problem := left_out.problem(number, max_bad, "--max-bad"):
            raise BridoError(f"{shown}: {problem}")
        if len(bad) == number:
            raise BridoError(f"{shown}: no good row is left: {left_out.text() or 'there is none'}")
        if left_out:
            say(f"{command}: left out {left_out.text()}")
        # No further than before: stdout may be appended to the same file.
        stream = chain.from_iterable(read(path, label) for path, label in places)
        rows = enumerate(islice(stream, number), 1)
        good = ((place, row.values) for place, row in rows if place not in bad)
        if not named:
            yield (values for _, values in good)
        else:
            yield (values | {"id": id_text(values.get("id", place))} for place, values in good)


def standard_input() -> io.BufferedReader:
    """The bytes of stdin; BridoError if it is closed."""
    if sys.stdin is None:
        raise BridoError("stdin is closed: name a file, or give lines on stdin")
    return cast(io.BufferedReader, sys.stdin.buffer)


def unwritable(row: Values) -> str:
    """Why a row cannot be written as JSON, or ""."""
    try:
        json_line(row)
    except BridoError as error:
        return str(error)
    return ""
