"""Where every command writes: stdout, or a file that appears whole at the end or not at all.

A file that is there already is replaced only with --force. What is not a file (a folder, a device,
a pipe) is never replaced, nor is what has another ending than the command writes.
"""

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO, cast

from brido.utils.atomic import atomic_file, check_place, explained
from brido.utils.errors import BridoError

STDOUT = Path("-")


def check_output(path: Path | None, force: bool = False) -> None:
    """Check that JSON lines can be written to a path; a command calls it before it works.

    path: None or `-` for stdout. force: a file that is there may be replaced.

    Raises:
        BridoError: the path has another ending, is there already, or cannot be a file; or stdout
            is asked for and closed.
    """
    if path is None or path == STDOUT:
        standard_output()
        return
    if path.suffix != ".jsonl":
        raise BridoError(f"--output {path}: the name must end in .jsonl (to pack: `-o - | gzip`)")
    with explained(path):
        check_place(path)
        if path.exists() and not (force and path.is_file()):
            raise BridoError(
                f"--output {path} is there already: name another file, or replace it with --force "
                "(a file alone, no pipe or device)"
            )


@contextmanager
def output_text(path: Path | None) -> Iterator[TextIO]:
    """The text of an output that `check_output` has found right.

    Raises:
        BridoError: the file cannot be written.
    """
    if path is None or path == STDOUT:
        yield standard_output()
        return
    # A link stays, and the file that it names is written.
    with (
        atomic_file(Path(os.path.realpath(path))) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as text,
    ):
        yield text


def json_line(row: dict[str, Any]) -> str:
    """A row as a line of JSON; what JSON does not know, such as a date, becomes a text.

    Raises:
        BridoError: it holds NaN, infinity or bytes, which JSON cannot.
    """
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False, default=_as_text) + "\n"
    except ValueError as error:
        raise BridoError(f"a row holds what JSON cannot ({error})") from None


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        raise ValueError("bytes: leave their column out")
    return str(value)


def standard_output() -> TextIO:
    """Stdout for data: UTF-8 wherever they go, as a terminal's own encoding may lack the signs.

    Raises:
        BridoError: stdout is closed.
    """
    if sys.stdout is None:
        raise BridoError("stdout is closed: name a file with --output")
    with suppress(AttributeError):
        cast(io.TextIOWrapper, sys.stdout).reconfigure(encoding="utf-8")
    return sys.stdout
