"""Where summaries go: stdout, or a file that grows beside its final name until it is whole."""

import fcntl
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, is_disk_full, parsing
from brido.utils.left_out import LeftOut
from brido.utils.outputs import STDOUT, check_output, standard_output
from brido.utils.progress import say


class Output:
    """Lines of summaries, and how far they are.

    documents: done so far, those that were refused included; digest: of their ids and texts.
    counts: what is told at the end. refused: the documents that were too long.
    """

    def __init__(self, path: Path | None) -> None:
        if path is None:
            standard_output()
        self.path = path
        self.documents = 0
        self.digest = ""
        self.counts: Counter[str] = Counter()
        self.refused = LeftOut()

    @property
    def kept(self) -> str:
        """What a stopped command leaves, in words."""
        return f"{self.counts['summaries']:,} summaries were written to stdout"

    def write(self, rows: Sequence[dict[str, Any]], documents: int, digest: str) -> None:
        """Write the lines of a chunk of documents, whole or not at all as far as a resume sees."""
        self.documents += documents
        self.digest = digest
        self._lines("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

    def _lines(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def finish(self) -> None:
        """All documents are done."""

    def close(self) -> None:
        """Leave nothing open."""


class FileOutput(Output):
    """A file: its lines are in FILE.partial until all of them are there.

    FILE.partial.json says how many bytes of it are whole, and of which model and documents.
    """

    def __init__(self, path: Path, key: str, resume: bool) -> None:
        """key: of model, settings and documents; resume: go on with what is there.

        Raises:
            BridoError: the file exists, or a partial one that is not asked for, or of something
                else, or another process writes it.
        """
        super().__init__(path)
        self._path, self._key = path, key
        self._partial, self._state = partial_of(path), partial_of(path, ".json")
        check_place(path, resume, force=True)
        with self._writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self._partial.open("ab")
        _lock(self._file, path)
        if self._state.is_file():
            self._go_on()
        else:
            self._file.truncate(0)

    def _go_on(self) -> None:
        with parsing(lambda reason: f"{self._state} is damaged ({reason}): {self._anew}"):
            state = json.loads(self._state.read_text(encoding="utf-8"))
            own, size = state["key"], int(state["bytes"])
            self.documents, self.digest = int(state["documents"]), state["digest"]
            self.counts, self.refused = Counter(state["counts"]), LeftOut(state["refused"])
        if own != self._key:
            raise BridoError(
                f"{self._partial} was written with another model, other options or other "
                f"documents: {self._anew}"
            )
        if self._partial.stat().st_size < size:
            raise BridoError(f"{self._partial} is shorter than it was: {self._anew}")
        self._file.truncate(size)
        say(f"summarize: {self.documents:,} documents are done already, in {self._partial}")

    @property
    def _anew(self) -> str:
        return f"delete {self._partial.name} and {self._state.name} to start anew"

    @property
    def kept(self) -> str:
        """See `Output`."""
        return (
            f"{self.counts['summaries']:,} summaries are in {self._partial}: the same command with "
            "--resume goes on"
        )

    def _lines(self, text: str) -> None:
        with self._writing():
            self._file.write(text.encode())
            self._file.flush()
            os.fsync(self._file.fileno())
            state = {
                "key": self._key,
                "bytes": self._file.tell(),
                "documents": self.documents,
                "digest": self.digest,
                "counts": self.counts,
                "refused": self.refused.faults,
            }
            write_text(self._state, json.dumps(state))

    def finish(self) -> None:
        """Give the file its name."""
        with self._writing():
            self._file.close()
            os.replace(self._partial, self._path)
            self._state.unlink(missing_ok=True)

    def close(self) -> None:
        """See `Output`. What holds nothing is removed."""
        self._file.close()
        if not self.documents:
            self._partial.unlink(missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if is_disk_full(error):
                raise BridoError(
                    f"the disk is full while writing {self._partial} (or `ulimit -f` is reached): "
                    "free some space"
                ) from error
            raise BridoError(f"{self._path} cannot be written ({error.strerror})") from error


def partial_of(path: Path, suffix: str = "") -> Path:
    """The name of a file until it is whole."""
    return path.with_name(f"{path.name}.partial{suffix}")


def check_place(path: Path | None, resume: bool, force: bool) -> None:
    """Raise BridoError if a file cannot be begun, or resumed; before a model is loaded."""
    if path is None or path == STDOUT:
        if resume:
            raise BridoError("--resume goes on with a file: name it with --output")
        return
    check_output(path, force)
    if path.suffix == ".gz":
        raise BridoError(
            f"--output {path}: summarize does not pack its lines: name a file FILE.jsonl"
        )
    partial = partial_of(path)
    if not resume and partial.exists() and partial.stat().st_size:
        with suppress(OSError), partial.open("rb") as file:
            _lock(file, path)
        raise BridoError(
            f"--output: {partial} holds the summaries of a command that was stopped: go on with "
            f"--resume, or delete it"
        )


def _lock(file: BinaryIO, path: Path) -> None:
    """Take the lock of what is written of a file; BridoError if another process has it."""
    # Some file systems of clusters have no locks.
    with suppress(OSError):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BridoError(f"another process writes {path}: wait until it ends") from None
