"""What was asked before, kept by content: nothing is generated, answered or scored twice.

One SQLite file maps the SHA-256 of (kind, model, input texts) to the JSON of the result. Every
batch is committed as soon as it is done, so a killed run goes on where it was, and another system's
summaries only pay for what is new in them. The file can be deleted at any time.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from brido.errors import BridoError

# SQLite's oldest limit of variables in a statement is 999.
_CHUNK = 900


def content_key(kind: str, model: str, parts: Sequence[Any]) -> str:
    """The key of a result: it changes with the kind, the model's fingerprint and every input."""
    text = json.dumps([kind, model, *parts], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Store:
    """Results by content key; in memory without a path.

    Raises:
        BridoError: the file cannot be opened, is no store, or the disk is full.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        try:
            if path is not None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            # Systems may be evaluated side by side: wait for one another's commits.
            self._database = sqlite3.connect(path or ":memory:", timeout=120)
            self._database.execute("PRAGMA journal_mode=WAL")
            with self._database:
                self._database.execute(
                    "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, value TEXT) "
                    "WITHOUT ROWID"
                )
        except (sqlite3.Error, OSError) as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> BridoError:
        return BridoError(
            f"the store of answers {self.path} cannot be used ({error}): free some disk space, or "
            "delete the file (everything in it can be computed again), or name another"
        )

    def read(self, keys: Iterable[str]) -> dict[str, Any]:
        """The stored results among `keys`."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, Any] = {}
        try:
            for first in range(0, len(wanted), _CHUNK):
                chunk = wanted[first : first + _CHUNK]
                marks = ",".join("?" * len(chunk))
                query = f"SELECT key, value FROM results WHERE key IN ({marks})"
                rows = self._database.execute(query, chunk)
                found.update((key, json.loads(value)) for key, value in rows)
        except (sqlite3.Error, ValueError) as error:
            raise self._failure(error) from None
        return found

    def write(self, results: Iterable[tuple[str, Any]]) -> None:
        """Commit results; those of a key that is there already stay as they are."""
        rows = [(key, json.dumps(value, ensure_ascii=False)) for key, value in results]
        try:
            with self._database:
                self._database.executemany("INSERT OR IGNORE INTO results VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise self._failure(error) from None

    def recall(
        self,
        kind: str,
        model: str,
        items: Sequence[tuple],
        compute: Callable[[list[tuple]], Iterator[list[tuple[int, Any]]]],
    ) -> dict[tuple, Any]:
        """The result of every distinct item; what is not stored is computed, and stored at once.

        `compute` gets the new items and yields finished batches of (index of the item, result).
        """
        keys = {item: content_key(kind, model, item) for item in dict.fromkeys(items)}
        known = self.read(keys.values())
        new = [item for item, key in keys.items() if key not in known]
        for results in compute(new) if new else ():
            finished = [(keys[new[index]], value) for index, value in results]
            self.write(finished)
            known.update(finished)
        return {item: known[key] for item, key in keys.items()}

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._database.close()
