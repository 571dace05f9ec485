"""Where summaries go: stdout, or a file that grows beside its final name until it is whole."""

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from brido.utils.errors import BridoError, is_disk_full
from brido.utils.json_lines import parse_object
from brido.utils.outputs import STDOUT, check_output, json_line, standard_output
from brido.utils.progress import say


def check_place(path: Path | None, resume: bool, force: bool) -> None:
    """Raise BridoError if the lines cannot go there; a command calls it before it works."""
    check_output(path, force)
    if path is None or path == STDOUT:
        if resume:
            raise BridoError("--resume goes on with a file: name it with --output")
    elif path.suffix == ".gz":
        raise BridoError(f"--output {path}: summaries are not packed: name a file FILE.jsonl")


class Output:
    """Lines on stdout. rows: what is known of lines that were there before; lines: how many are."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.lines = 0

    @property
    def kept(self) -> str:
        """What a stopped command leaves, in words."""
        return f"{self.lines:,} summaries are on stdout"

    def missing(self, chunks: Iterable[list[Any]]) -> Iterator[list[Any]]:
        """The chunks whose lines are not there yet."""
        yield from chunks

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Write the lines of a chunk of documents."""
        self.lines += len(rows)
        self._write("".join(map(json_line, rows)))

    def _write(self, text: str) -> None:
        stream = standard_output()
        stream.write(text)
        stream.flush()

    def finish(self) -> None:
        """All documents are done."""

    def close(self) -> None:
        """Leave nothing open."""


class FileOutput(Output):
    """A file: its lines are in FILE.partial until all of them are there."""

    def __init__(self, path: Path, resume: bool) -> None:
        """resume: go on behind the lines that are there.

        Raises:
            BridoError: FILE.partial is there and not asked for, or damaged, or another process
                writes it, or it cannot be written.
        """
        super().__init__()
        self._path, self._partial = path, path.with_name(f"{path.name}.partial")
        with self._writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self._partial.open("ab")
        _lock(self._file, path)
        if self._file.tell() and not resume:
            raise BridoError(
                f"--output: {self._partial} holds the summaries of a command that was stopped: go "
                "on with --resume, or delete it"
            )
        # Where each line ends; one that a kill has torn is written again.
        self._ends = [0]
        with self._partial.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    self.rows.append(self._parsed(line))
                    self._ends.append(self._ends[-1] + len(line))

    @property
    def kept(self) -> str:
        """See `Output`."""
        lines = max(self.lines, len(self.rows))
        return f"{lines:,} summaries are in {self._partial}: the same command with --resume goes on"

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            row = parse_object(line)
            return {name: row[name] for name in ("id", "ended", "cut", "unsupported")}
        except (BridoError, KeyError):
            raise BridoError(
                f"{self._partial}: line {len(self.rows) + 1} is no summary: delete the file"
            ) from None

    def missing(self, chunks: Iterable[list[Any]]) -> Iterator[list[Any]]:
        """See `Output`. The ids of the lines that are there must be those of the first documents.

        A chunk is written as a whole, because its documents share batches.
        """
        done, started = 0, False
        for chunk in chunks:
            found = [row["id"] for row in self.rows[done : done + len(chunk)]]
            if not started and found != [named.id for named in chunk[: len(found)]]:
                raise self._other_documents
            if not started and len(found) == len(chunk):
                done += len(chunk)
                continue
            if not started:
                self._go_on(done)
                started = True
            yield chunk
        if len(self.rows) > done:
            raise self._other_documents

    @property
    def _other_documents(self) -> BridoError:
        return BridoError(
            f"--resume: the documents are not those of {self._partial}: delete it to start anew"
        )

    def _go_on(self, done: int) -> None:
        """Cut off what stands behind so many lines."""
        if self.rows:
            say(f"summarize: {done:,} documents are done already, in {self._partial}")
        with self._writing():
            self._file.truncate(self._ends[done])
        del self.rows[done:]
        self.lines = done

    def _write(self, text: str) -> None:
        with self._writing():
            self._file.write(text.encode())
            self._file.flush()
            os.fsync(self._file.fileno())

    def finish(self) -> None:
        """Give the file its name; a link stays, and the file that it names is replaced."""
        with self._writing():
            os.replace(self._partial, os.path.realpath(self._path))

    def close(self) -> None:
        """See `Output`. What holds nothing is removed."""
        self._file.close()
        if not self.lines and not self.rows:
            self._partial.unlink(missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = "the disk is full" if is_disk_full(error) else error.strerror
            raise BridoError(f"{self._partial} cannot be written: {reason}") from error


def _lock(file: BinaryIO, path: Path) -> None:
    """Take the lock of what is written of a file; BridoError if another process has it."""
    # Some file systems of clusters have no locks.
    with suppress(OSError):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BridoError(f"another process writes {path}: wait until it ends") from None
