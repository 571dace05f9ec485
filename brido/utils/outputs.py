"""Where every command reads and writes: files that appear whole, devices, pipes, stdin, stdout.

A command calls `check_output` before it works, and writes with `output_text` or `output_bytes`.
None of them writes onto an input.
"""

import errno
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from brido.utils.atomic import atomic_file, explained
from brido.utils.errors import BridoError
from brido.utils.extras import extra
from brido.utils.text_files import COMPRESSIONS, check_text, ending_of

# What a path itself can be, and what opening a device or pipe may answer.
_IMPOSSIBLE = frozenset(
    {errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL}
)
_REFUSALS = _IMPOSSIBLE | {errno.ENXIO, errno.ENODEV, errno.EBADF, errno.EIO, errno.EBUSY}
_MOST_LINKS = 40
_CLOSED = "stdout is closed: name a file with --output"
# What the endings of outputs say.
NAMES = {".jsonl": "JSON lines", ".ndjson": "JSON lines", ".parquet": "Parquet", ".csv": "CSV",
         ".tsv": "TSV", ".xlsx": "a table of Excel"}  # fmt: skip


def check_name(path: Path, written: str = "") -> None:
    """Check that the name of an output is what it says.

    written: the format that a command writes, as in NAMES; "" for any.

    Raises:
        BridoError: it is `-`, begins with a `~` that no shell has replaced, or has the ending of
            another format.
    """
    if str(path) == "-":
        raise BridoError("--output -: leave --output out, and stdout gets it")
    if path.parts and path.parts[0].startswith("~"):
        raise BridoError(
            f"--output {path}: the shell replaces ~ at the start of a word alone, so this would "
            "be a folder named ~: write the whole path"
        )
    named = NAMES.get(ending_of(path), written)
    if written and named != written:
        raise BridoError(
            f"--output {path} is named as {named}, but this command writes {written}: give it "
            "another ending"
        )


def check_output(path: Path | None, inputs: Iterable[str | Path] = (), written: str = "") -> None:
    """Check that an output can be written and is none of the inputs.

    path: None is stdout. inputs: the files that are read, `-` for stdin. Files are compared by what
    they are, not by name: links and other spellings are known. written: see check_name.

    Raises:
        BridoError: the output is an input, a folder, or inside what is not a folder; its name is
            wrong; or stdout is asked for and closed.
    """
    _check_place(path, inputs)
    if path is not None:
        check_name(path, written)


def _check_place(path: Path | None, inputs: Iterable[str | Path]) -> None:
    if path is None and sys.stdout is None:
        raise BridoError(_CLOSED)
    with explained(path or Path("stdout"), _REFUSALS):
        state = _state(sys.stdout) if path is None else _state_of(path)
        for name in inputs:
            read = _state(sys.stdin) if str(name) == "-" else _state_of(Path(name))
            if state and read and stat.S_ISREG(read.st_mode) and os.path.samestat(state, read):
                output = "stdout" if path is None else f"--output {path}"
                source = "stdin" if str(name) == "-" else name
                raise BridoError(f"{output} is the file that is read ({source}): name another one")
        if path is not None and state is None and (lower := _not_a_folder(path)):
            raise BridoError(f"--output {path} cannot be written: {lower} is not a folder")
    if path is not None and state is not None and stat.S_ISDIR(state.st_mode):
        raise BridoError(f"--output {path} is a folder: name a file in it")


@contextmanager
def output_bytes(path: Path, inputs: Iterable[str | Path] = ()) -> Iterator[BinaryIO]:
    """A file for bytes that appears whole at the end or not at all.

    A link stays, and the file that it names is written. A device, a pipe and an open file of this
    process (/dev/stdout) are written to as they are.

    Raises:
        BridoError: as check_output, or the file cannot be written.
    """
    check_output(path, inputs)
    with explained(path, _REFUSALS):
        written = _opened_as_it_is(path)
    if written is None:
        target = Path(os.path.realpath(path))
        with atomic_file(target) as temporary, temporary.open("wb") as file:
            yield file
        return
    with explained(path), written:
        yield written


@contextmanager
def output_text(path: Path | None, inputs: Iterable[str | Path] = ()) -> Iterator[TextIO]:
    """A file for text as `output_bytes`, UTF-8, packed if it ends in .gz or .zst; None is stdout.

    Raises:
        BridoError: as output_bytes.
    """
    if path is None:
        check_output(path, inputs)
        yield standard_output()
        return
    compression = COMPRESSIONS.get(path.suffix.lower())
    with output_bytes(path, inputs) as stream:
        if compression is None:
            with io.TextIOWrapper(stream, encoding="utf-8") as text:
                yield text
            return
        with extra():
            import pyarrow as pa
        with (
            pa.output_stream(stream, compression=compression) as packing,
            io.TextIOWrapper(packing, encoding="utf-8") as packed,
        ):
            yield packed


def standard_output() -> TextIO:
    """Stdout for data: UTF-8 wherever they go, as a terminal's own encoding may lack the signs.

    Raises:
        BridoError: stdout is closed.
    """
    if sys.stdout is None:
        raise BridoError(_CLOSED)
    with suppress(AttributeError):
        cast(io.TextIOWrapper, sys.stdout).reconfigure(encoding="utf-8")
    return sys.stdout


def standard_input() -> io.BufferedReader:
    """The bytes of stdin, which hold a text.

    Raises:
        BridoError: stdin is closed, or begins as a file of another kind does.
    """
    if sys.stdin is None:
        raise BridoError("stdin is closed: name a file, or give lines on stdin")
    stream = cast(io.BufferedReader, sys.stdin.buffer)
    check_text(Path("stdin"), stream)
    return stream


def _state(stream: TextIO | None) -> os.stat_result | None:
    """What stdin or stdout is; None where the system has no file for it."""
    with suppress(OSError, AttributeError, ValueError):
        return os.fstat(cast(TextIO, stream).fileno())
    return None


def _state_of(path: Path) -> os.stat_result | None:
    """What a path leads to; None where there is nothing."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return path.stat()
    return None


def _not_a_folder(path: Path) -> Path | None:
    """What stands in the place of a folder on the way to a path, if anything does."""
    nearest = next((folder for folder in path.parents if _state_of(folder)), None)
    return None if nearest is None or nearest.is_dir() else nearest


def _opened_as_it_is(path: Path) -> BinaryIO | None:
    """A device, a pipe or an open file of this process, opened; None for any other path."""
    number, state = _descriptor(path), _state_of(path)
    if number is not None:
        if sys.stdout is not None:
            sys.stdout.flush()
        return os.fdopen(os.dup(number), "wb")
    if state is not None and not stat.S_ISREG(state.st_mode):
        return path.open("wb")
    return None


def _descriptor(path: Path) -> int | None:
    """The number of the open file of this process that a path is, such as /dev/stdout."""
    for _ in range(_MOST_LINKS):
        folder = str(path.parent.resolve())
        ours = folder == "/dev/fd" or folder == f"/proc/{os.getpid()}/fd"
        if ours and path.name.isdigit():
            return int(path.name)
        if not path.is_symlink():
            break
        path = path.parent / os.readlink(path)
    return None
