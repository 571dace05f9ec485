"""Every answer ever given, kept: a content-addressed SQLite file that only its owner can read.

An answer's key is the hash of the model (backend, name, revision, parameters) and full messages,
together with a sample number, so whatever was asked once is never asked again: not after a crash,
not for the same text from elsewhere. Answers are final: a second one for the same key is ignored.
Errors are no answers and never get here. Prompts are not stored, only their hash; what the model
wrote is.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from brido.endpoint.answers import Answer, AskedModel
from brido.utils.store import Store, StoreFull, placeholders

# A file format: the names are those of version 0.1, in which only judges were asked, so that its
# stores and ours are the same.
_TABLES = """
CREATE TABLE IF NOT EXISTS judges (
    digest TEXT PRIMARY KEY, backend TEXT NOT NULL, model TEXT NOT NULL, revision TEXT,
    parameters TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (
    key TEXT NOT NULL, sample INTEGER NOT NULL, judge TEXT NOT NULL, text TEXT NOT NULL,
    finish_reason TEXT NOT NULL, refused INTEGER NOT NULL, served_model TEXT NOT NULL,
    characters INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, answer_tokens INTEGER NOT NULL,
    tokens TEXT, answered REAL NOT NULL, PRIMARY KEY (key, sample)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS abilities (
    backend TEXT NOT NULL, model TEXT NOT NULL, revision TEXT NOT NULL, name TEXT NOT NULL,
    present INTEGER NOT NULL, PRIMARY KEY (backend, model, revision, name)
) WITHOUT ROWID;
"""
# Not INSERT OR IGNORE, which would also drop a row with a null without a word.
_ADD_MODEL = f"INSERT INTO judges VALUES ({placeholders(5)}) ON CONFLICT DO NOTHING"
_ADD_ANSWER = f"INSERT INTO answers VALUES ({placeholders(12)}) ON CONFLICT DO NOTHING"


class Row(NamedTuple):
    """An answer to be stored; `characters` is the length of its prompt, 0 where another sample of
    the same call counts it."""

    model: AskedModel
    key: str
    sample: int
    characters: int
    answer: Answer


class AnswerStore(Store):
    """An open store of answers; one connection, to be used by one thread at a time."""

    path: Path
    tables = _TABLES
    private = True
    advice = (
        "if the file is damaged, restore it or move it away; if the disk is full, free some space"
    )

    def __init__(self, path: Path, must_exist: bool = False) -> None:
        """Open the store at `path`, as `Store` does; it has to be a file."""
        super().__init__(path, must_exist)
        self._reserved: IO[bytes] | None = None

    @contextlib.contextmanager
    def lock(self, name: str, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold `name` against every other opening of this store; a killed process lets it go.

        `waiting()` is called where somebody else holds it, before that is waited for.
        """
        digest = hashlib.sha256(name.encode()).hexdigest()[:16]
        with self._errors():
            path = self.path.with_name(f"{self.path.name}.{digest}.lock")
            held = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            with self._errors():
                try:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    waiting()
                    fcntl.flock(held, fcntl.LOCK_EX)
            yield
        finally:
            os.close(held)

    @contextlib.contextmanager
    def reserve(self, size: int) -> Iterator[None]:
        """Set `size` bytes of the disk aside within the block, for answers already paid for.

        Raises:
            BridoError: there are not so many.
        """
        # It has no name, so it is gone with the process.
        with tempfile.TemporaryFile(dir=self.path.parent, buffering=0) as self._reserved:
            with self._errors():
                # Random, or a file system that compresses would set nothing aside.
                if self._reserved.write(os.urandom(size)) < size:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            yield
        self._reserved = None

    def append(self, rows: Sequence[Row]) -> None:
        """Commit answers, all or none; they are durable when this returns.

        Raises:
            StoreFull: the disk is full. Where space was reserved the answers are kept all the same.
            BridoError: they cannot be kept.
        """
        try:
            self._append(rows)
        except StoreFull:
            if self._reserved is not None:
                self._reserved.close()
                self._append(rows)
            raise

    def _append(self, rows: Sequence[Row]) -> None:
        now = time.time()
        values = [
            (
                *(row.key, row.sample, row.model.digest, row.answer.text),
                *(row.answer.finish_reason, row.answer.refused, row.answer.served_model),
                *(row.characters, row.answer.prompt_tokens, row.answer.answer_tokens),
                *(None if row.answer.tokens is None else _dump(row.answer.tokens), now),
            )
            for row in rows
        ]
        models = {row.model.digest: row.model for row in rows}
        described = [
            (digest, model.backend, model.name, model.revision, _dump(dict(model.parameters)))
            for digest, model in models.items()
        ]
        with self._transaction() as connection:
            connection.executemany(_ADD_MODEL, described)
            connection.executemany(_ADD_ANSWER, values)

    def samples(self, key: str) -> set[int]:
        """The sample numbers of a question that are answered."""
        return {row[0] for row in self._rows("SELECT sample FROM answers WHERE key = ?", (key,))}

    def answers(self, key: str, samples: int) -> dict[int, Answer]:
        """The stored answers of a question with sample numbers below `samples`."""
        found = self._rows(
            "SELECT sample, text, finish_reason, refused, served_model, prompt_tokens, "
            "answer_tokens, tokens FROM answers WHERE key = ? AND sample < ? ORDER BY sample",
            (key, samples),
        )
        return {
            row[0]: Answer(*row[1:3], bool(row[3]), *row[4:7], _load_tokens(row[7]))
            for row in found
        }

    def usage(self, model: AskedModel) -> tuple[int, int, int]:
        """Characters of prompts, prompt tokens and answer tokens of all answers of one model."""
        (row,) = self._rows(
            "SELECT TOTAL(CASE WHEN a.prompt_tokens > 0 THEN a.characters END), "
            "TOTAL(a.prompt_tokens), TOTAL(a.answer_tokens) FROM answers a "
            "JOIN judges j ON j.digest = a.judge WHERE j.backend = ? AND j.model = ?",
            (model.backend, model.name),
        )
        return int(row[0]), int(row[1]), int(row[2])

    def ability(self, model: AskedModel, name: str) -> bool | None:
        """Whether the model's server can do `name`, None where it was never tried."""
        rows = self._rows(
            "SELECT present FROM abilities "
            "WHERE backend = ? AND model = ? AND revision = ? AND name = ?",
            (model.backend, model.name, model.revision or "", name),
        )
        return bool(rows[0][0]) if rows else None

    def set_ability(self, model: AskedModel, name: str, present: bool) -> None:
        """Remember whether the model's server can do `name`."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO abilities VALUES (?, ?, ?, ?, ?)",
                (model.backend, model.name, model.revision or "", name, present),
            )


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _load_tokens(text: str | None) -> list | None:
    if text is None:
        return None
    return [
        (token, None if alternatives is None else [(name, value) for name, value in alternatives])
        for token, alternatives in json.loads(text)
    ]
