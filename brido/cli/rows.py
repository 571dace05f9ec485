"""The rows of a command's FILE: bad ones are counted, and too many of them end the command."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError
from brido.utils.files import read_rows
from brido.utils.left_out import LeftOut
from brido.utils.progress import say
from brido.utils.text_files import STDIN, standard_input

Values = dict[str, Any]


@contextmanager
def good_rows(
    file: str, fault: Callable[[Values, int], str], max_bad: float, command: str
) -> Iterator[Iterator[tuple[int, Values]]]:
    """A block with (number, values) of the good rows; all rows were looked at before it begins.

    file: `-` for stdin. fault: what is wrong with the values of a row of that number, or "".
    max_bad: the share of rows that may be left out. command: its name, for messages.

    Raises:
        BridoError: the file cannot be read, or too many rows are bad; the first ones are named.
    """
    left_out, bad = LeftOut(), set[int]()
    with _kept(file) as path:
        shown, number = "stdin" if file == STDIN else "", 0
        for number, row in enumerate(read_rows(path, shown), 1):
            if found := row.problem or fault(row.values, number):
                left_out.note(found, row.place)
                bad.add(number)
        if problem := left_out.problem(number, max_bad, "--max-bad"):
            raise BridoError(f"{shown or file}: {problem}")
        if len(bad) == number:
            raise BridoError(f"{shown or file}: no good row is left: {left_out.text()}")
        if left_out:
            say(f"{command}: left out {left_out.text()}")
        # No further than before: stdout may be appended to the same file.
        rows = enumerate(islice(read_rows(path, shown), number), 1)
        yield ((place, row.values) for place, row in rows if place not in bad)


@contextmanager
def _kept(file: str) -> Iterator[Path]:
    """The file; for stdin, which can be read only once, a temporary copy."""
    if file != STDIN:
        yield Path(file)
        return
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as copy:
        shutil.copyfileobj(standard_input(), copy)
        copy.flush()
        yield Path(copy.name)
