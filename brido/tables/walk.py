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
        return [name for batch in self.batches() for name in batch.column(ID).to_pylist()]


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
        if batch := stream.more():
            raise other_documents(stream.table, first, batch.column(ID)[0].as_py())


def cut(rows: int, size: int) -> list[range]:
    """The rows 0 to rows - 1 in ranges of `size`, the last one what is left."""
    return [range(first, min(first + size, rows)) for first in range(0, rows, size)]


class _Stream:
    """The rows of a table, taken from the front; `exact`: no row may be passed over."""

    def __init__(self, table: Table, rows: range | None, first: Table, exact: bool) -> None:
        self.table, self.first, self.exact = table, first, exact
        self.batches, self.waiting = table.batches(rows), None

    def more(self) -> pa.RecordBatch | None:
        """The next rows, which stay in front; None at the end."""
        self.waiting = self.waiting or next(self.batches, None)
        return self.waiting

    def take(self, ids: list[str]) -> pa.RecordBatch:
        """The rows of the documents `ids`; raise BridoError if one is not where it should be."""
        parts, place = [], 0
        while place < len(ids) and (batch := self.more()):
            rows, row = [], -1
            for row, name in enumerate(batch.column(ID).to_pylist()):
                if name == ids[place]:
                    rows.append(row)
                    place += 1
                    if place == len(ids):
                        break
                elif self.exact:
                    raise other_documents(self.table, self.first, name)
            parts.append(batch.take(pa.array(rows, pa.int64())))
            self.waiting = batch.slice(row + 1)
        if place < len(ids):
            raise other_documents(self.table, self.first, ids[place])
        return pa.concat_batches(parts)


def other_documents(table: Table, first: Table, name: str) -> BridoError:
    """The error about a table whose documents are not those of `first`, in that order."""
    # The corpus comes first: what was computed from an older one is out of date.
    stage = first.stage if table.stage == "download" else table.stage
    return BridoError(
        f"{table.path} holds other documents than {first.path}, or in another order (id "
        f"{quoted(name)}): `dvc repro {stage}`"
    )
