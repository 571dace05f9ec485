"""Where summaries go: stdout, or FILE.partial, which becomes FILE when all of them are there."""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from brido.utils.errors import BridoError, is_disk_full
from brido.utils.outputs import STDOUT, check_output, json_line, standard_output
from brido.utils.progress import say


class Output:
    """Writes lines. path: None for stdout; rows: those that an earlier command left."""

    def __init__(self, path: Path | None, resume: bool, force: bool) -> None:
        """resume: go on behind the lines of an earlier command. force: replace the file.

        Raises:
            BridoError: the file cannot be written, or FILE.partial is there and not asked for, or
                another process writes it.
        """
        check_output(path, force)
        self.path = None if path == STDOUT else path
        self.rows: list[dict[str, Any]] = []
        if self.path is None:
            if resume:
                raise BridoError("--resume goes on with a file: name it with --output")
            return
        self._partial = self.path.with_name(f"{self.path.name}.partial")
        with self._writing():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self._partial.open("ab")
        _lock(self._file, self.path)
        if self._file.tell() and not resume:
            raise BridoError(
                f"--output: {self._partial} holds the summaries of a command that was stopped: go "
                "on with --resume, or delete it"
            )
        # A line that a kill has torn is written again.
        lines = self._partial.read_bytes().splitlines(keepends=True)
        self._lines = [line for line in lines if line.endswith(b"\n")]
        try:
            self.rows = list(map(json.loads, self._lines))
        except ValueError:
            raise self._other_documents from None

    def missing(self, chunks: Iterable[list[Any]]) -> Iterator[list[Any]]:
        """The chunks whose lines are not there yet; the others must have the ids of the lines.

        A chunk is written as a whole, because its documents share batches.
        """
        done, chunks = 0, iter(chunks)
        for chunk in chunks:
            there = [row.get("id") for row in self.rows[done : done + len(chunk)]]
            if there != [named.id for named in chunk[: len(there)]]:
                raise self._other_documents
            if len(there) < len(chunk):
                self._go_on(done)
                yield chunk
                yield from chunks
                return
            done += len(chunk)
        if len(self.rows) > done:
            raise self._other_documents

    @property
    def _other_documents(self) -> BridoError:
        return BridoError(
            f"--resume: the documents are not those of {self._partial}: delete it to start anew"
        )

    def _go_on(self, done: int) -> None:
        """Cut off what stands behind so many lines."""
        if self.path is not None and self._file.tell():
            say(f"summarize: {done:,} documents are done already, in {self._partial}")
            self._file.truncate(sum(map(len, self._lines[:done])))
            del self.rows[done:]

    def write(self, rows: Sequence[dict[str, Any]]) -> None:
        """Write the lines of a chunk of documents."""
        text = "".join(map(json_line, rows))
        if self.path is None:
            standard_output().write(text)
            standard_output().flush()
            return
        with self._writing():
            self._file.write(text.encode())
            self._file.flush()
            os.fsync(self._file.fileno())

    def finish(self) -> None:
        """Give the file its name; a link stays, and the file that it names is replaced."""
        if self.path is not None:
            with self._writing():
                os.replace(self._partial, os.path.realpath(self.path))

    def close(self) -> None:
        """Let others write the file; one that holds nothing is removed."""
        if self.path is not None:
            if not self._file.tell():
                self._partial.unlink(missing_ok=True)
            self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = "the disk is full" if is_disk_full(error) else error.strerror
            raise BridoError(
                f"{self._partial} cannot be written ({reason}): the same command with --resume "
                "goes on"
            ) from error


def _lock(file: BinaryIO, path: Path) -> None:
    """Take the lock of what is written of a file; BridoError if another process has it."""
    # Some file systems of clusters have no locks.
    with suppress(OSError):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BridoError(f"another process writes {path}: wait until it ends") from None
