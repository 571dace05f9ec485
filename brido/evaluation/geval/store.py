"""Every answer ever given, kept: a content-addressed SQLite file that only its owner can read.

An answer's key is the hash of judge (backend, model, revision, parameters) and full messages,
together with a sample number, so whatever was asked once is never asked again: not after a crash,
not for another system with the same summary. Answers are final: a second one for the same key is
ignored. Errors are no answers and never get here. Prompts and documents are not stored, only their
hash; what the judge wrote is.
"""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from brido.errors import BridoError
from brido.evaluation.geval.answers import Answer, Judge

_VERSION = 1
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


class Row(NamedTuple):
    """An answer to be stored; `characters` is the length of its prompt, 0 where another sample of
    the same call counts it."""

    judge: Judge
    key: str
    sample: int
    characters: int
    answer: Answer


class Store:
    """An open store; one connection, to be used by one thread at a time."""

    def __init__(self, path: Path, must_exist: bool = False) -> None:
        """Open the store at `path`, made with file mode 0600 unless it `must_exist`.

        Raises:
            BridoError: it cannot be opened or made, is no store, or is of a newer version.
        """
        self.path = Path(path)
        with self._errors():
            if must_exist and not self.path.is_file():
                raise BridoError(f"there is no store of answers at {self.path}")
            _make_private(self.path)
            self._connection = sqlite3.connect(
                self.path, timeout=60.0, isolation_level=None, check_same_thread=False
            )
            self._prepare()

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA journal_mode=WAL")
        # FULL: an answer that was paid for outlives a power cut, not only a killed process.
        self._connection.execute("PRAGMA synchronous=FULL")
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise BridoError(
                f"{self.path} was written by a newer version of brido (format {version}, this one "
                f"reads {_VERSION}): update brido, or name another file in runtime.judge.store"
            )
        if version < _VERSION:
            self._connection.executescript(_TABLES)
            self._connection.execute(f"PRAGMA user_version={_VERSION}")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise BridoError(
                f"the store of answers {self.path} cannot be used ({error}): if the file is "
                "damaged, restore it or move it away; if the disk is full, free some space"
            ) from None
        except OSError as error:
            raise BridoError(
                f"the store of answers {self.path} cannot be opened ({error.strerror})"
            ) from None

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def append(self, rows: Sequence[Row]) -> None:
        """Commit answers, all or none; they are durable when this returns."""
        now = time.time()
        values = [
            (
                *(row.key, row.sample, row.judge.digest, row.answer.text),
                *(row.answer.finish_reason, row.answer.refused, row.answer.served_model),
                *(row.characters, row.answer.prompt_tokens, row.answer.answer_tokens),
                *(_dump_tokens(row.answer), now),
            )
            for row in rows
        ]
        judges = {row.judge.digest: row.judge for row in rows}
        described = [
            (digest, judge.backend, judge.model, judge.revision, _dump(dict(judge.parameters)))
            for digest, judge in judges.items()
        ]
        # Not INSERT OR IGNORE, which would also drop a row with a null without a word.
        judge_row = f"INSERT INTO judges VALUES ({_marks(5)}) ON CONFLICT DO NOTHING"
        answer_row = f"INSERT INTO answers VALUES ({_marks(12)}) ON CONFLICT DO NOTHING"
        with self._errors(), self._transaction():
            self._connection.executemany(judge_row, described)
            self._connection.executemany(answer_row, values)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def samples(self, key: str) -> set[int]:
        """The sample numbers of a question that are answered."""
        with self._errors():
            found = self._connection.execute("SELECT sample FROM answers WHERE key = ?", (key,))
            return {sample for (sample,) in found}

    def answers(self, key: str, samples: int) -> dict[int, Answer]:
        """The stored answers of a question with sample numbers below `samples`."""
        with self._errors():
            found = self._connection.execute(
                "SELECT sample, text, finish_reason, refused, served_model, prompt_tokens, "
                "answer_tokens, tokens FROM answers WHERE key = ? AND sample < ? ORDER BY sample",
                (key, samples),
            )
            return {
                row[0]: Answer(*row[1:3], bool(row[3]), *row[4:7], _load_tokens(row[7]))
                for row in found
            }

    def usage(self, judge: Judge) -> tuple[int, int, int]:
        """Characters of prompts, prompt tokens and answer tokens of all answers of one model."""
        with self._errors():
            row = self._connection.execute(
                "SELECT TOTAL(CASE WHEN a.prompt_tokens > 0 THEN a.characters END), "
                "TOTAL(a.prompt_tokens), TOTAL(a.answer_tokens) FROM answers a "
                "JOIN judges j ON j.digest = a.judge WHERE j.backend = ? AND j.model = ?",
                (judge.backend, judge.model),
            ).fetchone()
        return int(row[0]), int(row[1]), int(row[2])

    def ability(self, judge: Judge, name: str) -> bool | None:
        """Whether the judge's server can do `name`, None where it was never tried."""
        with self._errors():
            row = self._connection.execute(
                "SELECT present FROM abilities "
                "WHERE backend = ? AND model = ? AND revision = ? AND name = ?",
                (judge.backend, judge.model, judge.revision or "", name),
            ).fetchone()
        return None if row is None else bool(row[0])

    def set_ability(self, judge: Judge, name: str, present: bool) -> None:
        """Remember whether the judge's server can do `name`."""
        with self._errors():
            self._connection.execute(
                "INSERT OR REPLACE INTO abilities VALUES (?, ?, ?, ?, ?)",
                (judge.backend, judge.model, judge.revision or "", name, present),
            )


def _make_private(path: Path) -> None:
    """Make the file with mode 0600 before SQLite opens it; its journals inherit the mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def _dump_tokens(answer: Answer) -> str | None:
    if answer.tokens is None:
        return None
    return _dump(answer.tokens)


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _load_tokens(text: str | None) -> list | None:
    if text is None:
        return None
    return [
        (token, None if alternatives is None else [(name, value) for name, value in alternatives])
        for token, alternatives in json.loads(text)
    ]
