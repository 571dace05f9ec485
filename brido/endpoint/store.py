"""The store of answers: an SQLite file, keyed by content, that only its owner can read.

An answer's key is the hash of the model (name, revision, parameters) and the full messages,
together with a sample number. What was asked once is never asked again: not after a crash, not for
the same text from elsewhere. Answers are final: a second one for the same key is ignored. Only an
empty answer that was neither cut nor refused is asked for again by the next run; the new one takes
its place, and the tokens of both count. Errors are not answers and are not stored, only what they
took. Prompts are not stored, only their hash; answers are.
"""

import contextlib
import hashlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from brido.endpoint.answers import CUT, NO_ANSWER, Answer, AskedModel, Question, as_json
from brido.utils.progress import say
from brido.utils.store import Store

_TABLES = """
CREATE TABLE IF NOT EXISTS models (
    digest TEXT PRIMARY KEY, name TEXT NOT NULL, revision TEXT, parameters TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (
    key TEXT NOT NULL, sample INTEGER NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL,
    finish_reason TEXT NOT NULL, refused INTEGER NOT NULL, served_model TEXT NOT NULL,
    characters INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, answer_tokens INTEGER NOT NULL,
    answered REAL NOT NULL, PRIMARY KEY (key, sample)
) WITHOUT ROWID;
"""
# Not INSERT OR IGNORE, which would also drop a row with a null without a word.
_ADD_MODEL = "INSERT INTO models VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
# An answer that is asked for again, in SQL; the rest is final.
_AGAIN = (
    "TRIM(answers.text, char(9, 10, 13, 32)) = '' AND NOT answers.refused "
    f"AND answers.finish_reason <> '{CUT}'"
)
_SUMS = ", ".join(
    f"{name} = answers.{name} + excluded.{name}"
    for name in ("characters", "prompt_tokens", "answer_tokens")
)
_NEW = ", ".join(
    f"{name} = excluded.{name}"
    for name in ("text", "finish_reason", "refused", "served_model", "answered")
)
# By its time an answer is known that is written a second time.
_ADD_ANSWER = (
    f"INSERT INTO answers VALUES (?{', ?' * 10}) ON CONFLICT DO UPDATE SET {_NEW}, {_SUMS} "
    f"WHERE excluded.answered > answers.answered AND {_AGAIN}"
)


class AnswerStore(Store):
    """An open store of answers."""

    path: Path
    tables = _TABLES
    mode = 0o600
    advice = (
        "if the file is damaged, restore it or move it away; if the disk is full, free some space"
    )

    @contextlib.contextmanager
    def lock(self, name: str, why: str) -> Iterator[None]:
        """Hold `name` against every other opening of this store; a killed process releases it.

        why: said if another process holds it and this one waits.
        """
        digest = hashlib.sha256(name.encode()).hexdigest()[:16]
        lock = FileLock(self.path.with_name(f"{self.path.name}.{digest}.lock"), mode=0o600)
        with self._errors():
            try:
                lock.acquire(blocking=False)
            except Timeout:
                say(f"{why}: waiting until it ends")
                lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def append(self, rows: Sequence[tuple[Question, Answer]]) -> None:
        """Commit answers, all or none; they are durable when this returns.

        Raises:
            BridoError: they cannot be kept, as on a full disk.
        """
        values = [
            (
                *(question.key, question.sample, question.model.digest, answer.text),
                *(answer.finish_reason, answer.refused, answer.served_model),
                *(question.characters, answer.prompt_tokens, answer.answer_tokens),
                answer.received or time.time(),
            )
            for question, answer in rows
        ]
        models = {question.model.digest: question.model for question, _ in rows}
        described = [
            (digest, model.name, model.revision, as_json(dict(model.parameters)))
            for digest, model in models.items()
        ]
        with self._writing, self._errors(), self._connection as transaction:
            transaction.executemany(_ADD_MODEL, described)
            transaction.executemany(_ADD_ANSWER, values)

    def samples(self, key: str) -> set[int]:
        """The sample numbers of a question that are answered for good."""
        final = f"SELECT sample FROM answers WHERE key = ? AND NOT ({_AGAIN})"
        return {row[0] for row in self._rows(final, (key,))}

    def answers(self, key: str, samples: int) -> dict[int, Answer]:
        """The stored answers of a question with sample numbers below `samples`, empty ones too."""
        found = self._rows(
            "SELECT sample, text, finish_reason, refused, served_model, prompt_tokens, "
            "answer_tokens FROM answers WHERE key = ? AND sample < ? AND finish_reason <> ? "
            "ORDER BY sample",
            (key, samples, NO_ANSWER),
        )
        return {
            sample: Answer(text, reason, bool(refused), served, prompt, answer)
            for sample, text, reason, refused, served, prompt, answer in found
        }

    def usage(self, model: AskedModel) -> tuple[int, int, int]:
        """Characters of prompts, prompt tokens and answer tokens of all answers of one model."""
        (row,) = self._rows(
            "SELECT TOTAL(CASE WHEN a.prompt_tokens > 0 THEN a.characters END), "
            "TOTAL(a.prompt_tokens), TOTAL(a.answer_tokens) FROM answers a "
            "JOIN models m ON m.digest = a.model WHERE m.name = ?",
            (model.name,),
        )
        return int(row[0]), int(row[1]), int(row[2])
