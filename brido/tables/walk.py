"""Tables that hold the same documents, read side by side and matched by id; constant memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from brido.tables.read import read_batches
from brido.tables.schemas import ID
from brido.utils.errors import BridoError, quoted, some


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
    exact = [_Stream(table.batches(rows), exact=True) for table in same]
    streams = [*exact, *(_Stream(table.batches(corpus), exact=False) for table in within)]
    for batch in first.batches(rows):
        ids = batch.column(ID).to_pylist() if streams else []
        found = [stream.take(ids) for stream in streams]
        batches = [batch, *(one for one in found if one is not None)]
        if len(batches) <= len(found):
            raise _other_documents(first, same, within)
        yield batches
    if any(stream.more() for stream in exact):
        raise _other_documents(first, same, within)


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
            raise _other_documents(first, (), (corpus,))
        found.append(Part(rows, range(where[0], where[-1] + 1)))
    return found


class _Stream:
    """The rows of a table, taken from the front; `exact`: no row may be passed over."""

    def __init__(self, batches: Iterator[pa.RecordBatch], exact: bool) -> None:
        self._batches, self._exact = batches, exact
        self._waiting: pa.RecordBatch = None

    def more(self) -> bool:
        """Whether there are further rows."""
        while not self._waiting:  # None or without rows
            self._waiting = next(self._batches, None)
            if self._waiting is None:
                return False
        return True

    def take(self, ids: list[str]) -> pa.RecordBatch | None:
        """The rows of the documents `ids`; None if one lacks, or if a row between them may not be
        passed over."""
        parts: list[pa.RecordBatch] = []
        place = 0
        while place < len(ids) and self.more():
            rows, row = [], -1
            for row, name in enumerate(self._waiting.column(ID).to_pylist()):
                if name == ids[place]:
                    rows.append(row)
                    place += 1
                    if place == len(ids):
                        break
                elif self._exact:
                    return None
            parts.append(self._waiting.take(pa.array(rows, pa.int64())))
            self._waiting = self._waiting.slice(row + 1)
        return pa.concat_batches(parts) if place == len(ids) else None


def _other_documents(first: Table, same: Sequence[Table], within: Sequence[Table]) -> BridoError:
    """Which tables do not hold the documents of `first`, and which documents these are."""
    ids = first.ids()
    problems = []
    for table in (*same, *within):
        if difference := _difference(ids, table.ids(), exact=table in same):
            # The corpus comes first: what was computed from an older one is out of date.
            stage = first.stage if table.stage == "download" else table.stage
            problems.append(f"{table.path} {difference}: `dvc repro {stage}`")
    return BridoError.from_problems(
        f"these tables hold other documents than {first.path}, or in another order:", problems
    )


def _difference(ids: list[str], others: list[str], exact: bool) -> str:
    """What keeps `others` from holding `ids`, exactly or with others between; "" for nothing."""
    known, wanted = set(others), set(ids)
    lacks = [name for name in ids if name not in known]
    more = [name for name in others if exact and name not in wanted]
    problems = [
        f"{verb} {len(names):,} documents ({some(names)})"
        for verb, names in (("lacks", lacks), ("has besides", more))
        if names
    ]
    if not problems:
        shared = [name for name in others if name in wanted]
        if shared != ids:
            pairs = zip(ids, shared, strict=False)
            moved = next((name for name, other in pairs if name != other), ids[-1])
            problems = [f"holds them in another order, first id {quoted(moved)}"]
    return " and ".join(problems)
