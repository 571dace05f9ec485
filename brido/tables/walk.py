"""Tables that hold the same documents, read side by side and matched by id; constant memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from brido.tables.read import read_batches
from brido.tables.schemas import ID
from brido.utils.errors import BridoError, quoted


@dataclass(frozen=True)
class Table:
    """A table, the stage that makes it, and the columns to read beside the id."""

    path: Path
    schema: pa.Schema | None
    stage: str
    columns: tuple[str, ...] = ()

    def batches(self, rows: range | None = None) -> Iterator[pa.RecordBatch]:
        """The ids and the columns, of these rows only or of all."""
        names = list(dict.fromkeys([ID, *self.columns]))
        yield from read_batches(self.path, self.schema, self.stage, names, only=rows)

    def ids(self) -> list[str]:
        """All ids of the table."""
        batches = Table(self.path, self.schema, self.stage).batches()
        return [name for batch in batches for name in batch.column(ID).to_pylist()]


@dataclass(frozen=True)
class Part:
    """Consecutive documents: their rows of the first table, and the rows of the corpus around them.

    The rows of the corpus may hold further documents between them.
    """

    rows: range
    corpus: range

    def __len__(self) -> int:
        return len(self.rows)


def walk(
    first: Table, same: Sequence[Table] = (), within: Sequence[Table] = (), part: Part | None = None
) -> Iterator[list[pa.RecordBatch]]:
    """Batches of all tables side by side: one a table, in the order given, with equal ids.

    Tables in `same` hold exactly the documents of `first`, in the same order; those in `within`
    may hold further documents between them. part: only these documents, None for all of them.

    Raises:
        BridoError: a table is missing or damaged, or holds other documents.
    """
    rows, corpus = (None, None) if part is None else (part.rows, part.corpus)
    exact = [_Stream(table, rows, first, exact=True) for table in same]
    streams = [*exact, *(_Stream(table, corpus, first, exact=False) for table in within)]
    for batch in first.batches(rows):
        ids = batch.column(ID).to_pylist() if streams else []
        yield [batch, *(stream.take(ids) for stream in streams)]
    for stream in exact:
        stream.end()


def cut(rows: int, size: int) -> list[range]:
    """The rows 0 to rows - 1 in ranges of `size`, the last one what is left."""
    return [range(first, min(first + size, rows)) for first in range(0, rows, size)]


def cut_into_parts(first: Table, corpus: Table, size: int) -> list[Part]:
    """The documents of `first` in parts of `size`, with where the corpus has them.

    Raises:
        BridoError: a document is not in the corpus, or is in another order there.
    """
    places = enumerate(corpus.ids())
    ids = first.ids()
    found = []
    for rows in cut(len(ids), size):
        where = [next((n for n, other in places if other == ids[row]), -1) for row in rows]
        if -1 in where:
            raise _other_documents(corpus, first, ids[rows[where.index(-1)]])
        found.append(Part(rows, range(where[0], where[-1] + 1)))
    return found


class _Stream:
    """The rows of a table, taken from the front; `exact`: no row may be passed over."""

    def __init__(self, table: Table, rows: range | None, first: Table, exact: bool) -> None:
        self._table, self._first, self._exact = table, first, exact
        self._batches = table.batches(rows)
        self._waiting: pa.RecordBatch = None

    def _more(self) -> bool:
        """Whether there are further rows."""
        while not self._waiting:  # None or without rows
            self._waiting = next(self._batches, None)
            if self._waiting is None:
                return False
        return True

    def take(self, ids: list[str]) -> pa.RecordBatch:
        """The rows of the documents `ids`; raise BridoError if one is not where it should be."""
        parts: list[pa.RecordBatch] = []
        place = 0
        while place < len(ids) and self._more():
            rows, row = [], -1
            for row, name in enumerate(self._waiting.column(ID).to_pylist()):
                if name == ids[place]:
                    rows.append(row)
                    place += 1
                    if place == len(ids):
                        break
                elif self._exact:
                    raise _other_documents(self._table, self._first, name)
            parts.append(self._waiting.take(pa.array(rows, pa.int64())))
            self._waiting = self._waiting.slice(row + 1)
        if place < len(ids):
            raise _other_documents(self._table, self._first, ids[place])
        return pa.concat_batches(parts)

    def end(self) -> None:
        """Raise BridoError if there are further rows."""
        if self._more():
            name = self._waiting.column(ID)[0].as_py()
            raise _other_documents(self._table, self._first, name)


def _other_documents(table: Table, first: Table, name: str) -> BridoError:
    # The corpus comes first: what was computed from an older one is out of date.
    stage = first.stage if table.stage == "download" else table.stage
    return BridoError(
        f"{table.path} holds other documents than {first.path}, or in another order (id "
        f"{quoted(name)}): `dvc repro {stage}`"
    )
