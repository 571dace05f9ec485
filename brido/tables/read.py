"""Read tables as streams of row batches, checked against their schemas, alone or side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from brido.tables.schemas import CORPUS, ID, METADATA_KEY, ROWS_PER_GROUP
from brido.utils.errors import BridoError, parsing, quoted
from brido.utils.stored import record


def open_table(path: Path, schema: pa.Schema | None, made_by: str) -> pq.ParquetFile:
    """The Parquet file at `path`, opened, with its columns checked against `schema`.

    `made_by` is the stage that makes the table, named in the way out. Extra columns are allowed
    (the embedded world's corpus has one); `schema` None skips the check of columns.

    Raises:
        BridoError: the file is missing, is not a Parquet file, or lacks columns or has other types.
    """
    path, remedy = Path(path), _remedy(made_by)
    if not path.is_file():
        raise BridoError(f"{path} is missing: {_remedy(made_by, '')}")
    with parsing(lambda reason: f"{path} is not a readable Parquet file ({reason}): {remedy}"):
        # Read ahead, it would keep the bytes of all row groups to the end.
        file = pq.ParquetFile(path, pre_buffer=False)
    found = {field.name: field.type for field in file.schema_arrow}
    wrong = [field for field in schema or () if found.get(field.name) != field.type]
    if wrong:
        problems = [f"column `{field.name}` must be {field.type}" for field in wrong]
        problems.append(f"the columns are {', '.join(found)}")
        raise BridoError.from_problems(f"{path} is not the table expected; {remedy}:", problems)
    return file


def _remedy(made_by: str, force: str = "-sf ") -> str:
    if made_by:
        return f"make it with `dvc repro {force}{made_by}`"
    return "put a whole file in its place (one below .brido may be removed)"


def read_batches(
    path: Path,
    schema: pa.Schema | None,
    made_by: str,
    columns: Sequence[str] | None = None,
    rows: int = ROWS_PER_GROUP,
    only: range | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of a table in batches of at most `rows`, in order; constant memory.

    only: consecutive rows of the table, None for all; no other row group is read.

    Raises:
        BridoError: see `open_table`, or the file is damaged.
    """
    file = open_table(path, schema, made_by)
    names = None if columns is None else list(columns)
    with file, parsing(lambda reason: f"{path} is damaged ({reason}): {_remedy(made_by)}"):
        groups, skip, count = _row_groups(file.metadata, only)
        for whole in file.iter_batches(batch_size=rows, columns=names, row_groups=groups):
            batch = whole.slice(skip, count)
            skip, count = max(skip - whole.num_rows, 0), count - batch.num_rows
            if batch.num_rows:
                batch.validate(full=True)  # text that is not UTF-8 would fail far from here
                if found := null_in(batch, schema):
                    raise BridoError(f"{path}: {found}: {_remedy(made_by)}")
                yield batch


def null_in(batch: pa.RecordBatch, schema: pa.Schema | None) -> str | None:
    """Say which column of a batch holds a null that its table must not hold; None if none does.

    In a list a text, a truth value or a whole number must not be null; a decimal number is then
    NaN.
    """
    for field in schema or ():
        if field.name not in batch.schema.names or field.nullable:
            continue
        column = batch.column(field.name)
        lists = pa.types.is_list(field.type) and not pa.types.is_floating(field.type.value_type)
        if column.null_count or (lists and column.flatten().null_count):
            return f"column `{field.name}` holds a null"
    return None


def _row_groups(metadata: pq.FileMetaData, only: range | None) -> tuple[list[int], int, int]:
    """The row groups that hold the wanted rows, how many rows to skip in them, and to take."""
    wanted = range(metadata.num_rows) if only is None else only
    groups: list[int] = []
    skip = first = 0
    for group in range(metadata.num_row_groups):
        stop = first + metadata.row_group(group).num_rows
        if first < wanted.stop and stop > wanted.start:
            if not groups:
                skip = max(wanted.start - first, 0)
            groups.append(group)
        first = stop
    return groups, skip, len(wanted)


def read_rows(path: Path, schema: pa.Schema | None, made_by: str) -> list[dict[str, Any]]:
    """All rows of a table as dictionaries, for tables that fit in memory."""
    return [row for batch in read_batches(path, schema, made_by) for row in batch.to_pylist()]


def read_columns(path: Path, schema: pa.Schema, made_by: str, columns: list[str]) -> pa.Table:
    """Some columns of a table as one Arrow table in chunks."""
    batches = list(read_batches(path, schema, made_by, columns))
    empty = pa.schema([schema.field(name) for name in columns])
    return pa.Table.from_batches(batches, batches[0].schema if batches else empty)


def count_rows(path: Path, made_by: str) -> int:
    """The number of rows of a table, from its footer."""
    with open_table(path, None, made_by) as file:
        return file.metadata.num_rows


def has_facts(corpus: Path) -> bool:
    """Whether a corpus table has the facts of its documents, as that of the embedded world has."""
    with open_table(corpus, CORPUS, "download") as file:
        return "facts" in file.schema_arrow.names


def read_metadata(path: Path, made_by: str, **keys: type) -> dict[str, Any]:
    """What the writer said about the whole table (`write_table`'s metadata), {} where nothing.

    keys: what it must say, if it says anything.

    Raises:
        BridoError: see `open_table`, or the metadata are damaged.
    """
    with open_table(path, None, made_by) as file:
        raw = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
    with parsing(lambda why: f"{path} has damaged metadata ({why}): {_remedy(made_by)}"):
        return {} if raw is None else record(raw, keys)


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
