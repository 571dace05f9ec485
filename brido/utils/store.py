"""What was computed or paid for once, kept by content in an SQLite file and never done again.

`Store` is such a file: opened, checked, written all or nothing. `ResultStore` keeps any result that
is JSON by the hash of its inputs; answers that a server was paid for have tables of their own
(brido/endpoint/store.py).
"""

import contextlib
import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from brido.utils.errors import BridoError
from brido.utils.progress import Progress

# The format of the file: a newer one is refused.
_VERSION = 1
# Systems are evaluated side by side: how long one waits for another's writing.
WAIT_SECONDS = 120.0


class Store:
    """An open file with one connection; one thread writes at a time. Subclasses say what is in.

    `tables`: the SQL that makes its tables. `mode`: who may read it. `advice`: what to do about a
    file that cannot be used.
    """

    tables: ClassVar[str]
    mode: ClassVar[int]
    advice: ClassVar[str]

    def __init__(self, path: Path | None = None) -> None:
        """Open the file at `path`, made where it is not there; without a path, in memory.

        Raises:
            BridoError: it cannot be opened or made, is not a store, or is of a newer version.
        """
        self.path = None if path is None else Path(path)
        self._writing = threading.Lock()
        with self._errors():
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                # Before SQLite opens it: its journal inherits the mode.
                self.path.touch(self.mode)
                if self.mode == 0o600 and self.path.is_file():
                    self.path.chmod(self.mode)
            self._connection = sqlite3.connect(
                self.path or ":memory:",
                timeout=WAIT_SECONDS,
                isolation_level="IMMEDIATE",
                check_same_thread=False,
            )
            # FULL: what was committed outlives a power cut, not only a killed process.
            self._connection.execute("PRAGMA synchronous=FULL")
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version > _VERSION:
                raise ValueError(f"format {version} is of a newer version of brido: update brido")
            if version < _VERSION:
                self._connection.executescript(self.tables)
                self._connection.execute(f"PRAGMA user_version={_VERSION}")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, OSError) as error:
            raise BridoError(
                f"the store of answers {self.path} cannot be used ({error}): {self.advice}"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._connection.close()

    def _rows(self, query: str, values: Sequence[Any]) -> list[Any]:
        with self._errors():
            return self._connection.execute(query, values).fetchall()


def content_key(kind: str, model: str, parts: Sequence[Any]) -> str:
    """The key of a result: it changes with the kind, the model's fingerprint and every input."""
    text = json.dumps([kind, model, *parts], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class ResultStore(Store):
    """The JSON of results by the SHA-256 of (kind, model, inputs).

    Every batch is committed as soon as it is done, so a killed run goes on where it was. Another
    system's texts only pay for what is new in them. The file can be deleted at any time.
    """

    tables = "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    mode = 0o666
    advice = (
        "free some disk space, or delete the file (everything in it can be computed again), or "
        "name another"
    )

    def read(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the stored results among `keys`."""
        query = "SELECT key, value FROM results WHERE key IN (SELECT value FROM json_each(?))"
        rows = self._rows(query, [json.dumps(list(keys))])
        with self._errors():
            return {key: json.loads(value) for key, value in rows}

    def write(self, results: Iterable[tuple[str, Any]]) -> None:
        """Commit results; those of a key that is there already stay as they are."""
        rows = [(key, json.dumps(value, ensure_ascii=False)) for key, value in results]
        query = "INSERT INTO results VALUES (?, ?) ON CONFLICT DO NOTHING"
        with self._writing, self._errors(), self._connection as transaction:
            transaction.executemany(query, rows)

    def recall(
        self,
        kind: str,
        model: str,
        items: Sequence[tuple],
        compute: Callable[[list[tuple]], Iterable[list[tuple[int, Any]]]],
        display: Callable[[int], Progress],
    ) -> dict[tuple, Any]:
        """The result of every distinct item; what is not stored is computed, and stored at once.

        `compute` gets the new items and yields finished batches of (index of the item, result).
        `display` gets their number, and shows how many are done.
        """
        keys = {item: content_key(kind, model, item) for item in dict.fromkeys(items)}
        known = self.read(keys.values())
        new = [item for item, key in keys.items() if key not in known]
        if new:
            with display(len(new)) as shown:
                for results in compute(new):
                    finished = [(keys[new[index]], value) for index, value in results]
                    self.write(finished)
                    known.update(finished)
                    shown.advance(len(finished))
        return {item: known[key] for item, key in keys.items()}
