"""The pipeline's tables: one Arrow schema each, checked on read and write, written atomically.

A table is read and written as a stream of row batches, so memory does not grow with its length.
What is true of the whole table (settings used, signatures) travels in the Parquet metadata.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from brido.utils.atomic import atomic_file
from brido.utils.errors import BridoError, parsing

ROWS_PER_GROUP = 1024
_METADATA_KEY = b"brido"

FACT = pa.struct(
    [
        pa.field("slot", pa.string(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("value", pa.string(), nullable=False),
        pa.field("in_document", pa.bool_(), nullable=False),
    ]
)


def _schema(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])


CORPUS = _schema(
    ("id", pa.string()),
    ("document", pa.string()),
    ("summary", pa.string()),
    ("references", pa.list_(pa.string())),
)
# Null where the corpus has no references.
CORPUS = CORPUS.set(2, pa.field("summary", pa.string()))
WORLD_CORPUS = CORPUS.append(pa.field("facts", pa.list_(FACT), nullable=False))
CANDIDATES = _schema(
    ("id", pa.string()),
    ("candidates", pa.list_(pa.string())),
    ("search_scores", pa.list_(pa.float32())),
    ("ended", pa.list_(pa.bool_())),
)
# Of a beam search with groups: which of them wrote a candidate; the order of candidates hides it.
GROUPED_CANDIDATES = CANDIDATES.append(pa.field("groups", pa.list_(pa.int32())))
POOL = _schema(
    ("id", pa.string()),
    ("candidates", pa.list_(pa.string())),
    ("raw", pa.list_(pa.string())),
    ("sources", pa.list_(pa.string())),
    ("voters", pa.list_(pa.bool_())),
    ("eligible", pa.list_(pa.bool_())),
    ("search_scores", pa.list_(pa.float32())),
    ("ended", pa.list_(pa.bool_())),
)
SCORES = _schema(
    ("id", pa.string()),
    ("scores", pa.list_(pa.float64())),
    ("order", pa.list_(pa.int32())),
)
SUPPORT = _schema(
    ("id", pa.string()),
    ("support", pa.list_(pa.float32())),
    ("unsupported", pa.list_(pa.int32())),
    ("words", pa.list_(pa.int32())),
)
LIKELIHOOD = _schema(
    ("id", pa.string()),
    ("log_probability", pa.list_(pa.float64())),
    ("tokens", pa.list_(pa.int32())),
)
DECODED = _schema(("id", pa.string()), ("summary", pa.string()), ("score", pa.float64()))


def similarity_schema(num_candidates: int) -> pa.Schema:
    """The similarity table's schema for N candidates: N x (N+1) float32 values a row."""
    size = num_candidates * (num_candidates + 1)
    return _schema(("id", pa.string()), ("similarity", pa.list_(pa.float32(), size)))


def evaluation_schema(columns: Iterable[str]) -> pa.Schema:
    """The schema of an evaluation table: id, one nullable float64 column each, JSON detail."""
    values = [pa.field(name, pa.float64()) for name in columns]
    detail = pa.field("detail", pa.string())
    return pa.schema([pa.field("id", pa.string(), nullable=False), *values, detail])


def open_table(path: Path, schema: pa.Schema | None, made_by: str) -> pq.ParquetFile:
    """The Parquet file at `path`, opened, with its columns checked against `schema`.

    `made_by` is the stage that makes the table, named in the way out. Extra columns are allowed
    (the embedded world's corpus has one); `schema` None skips the check of columns.

    Raises:
        BridoError: the file is missing, is no Parquet file, or lacks columns or has other types.
    """
    path = Path(path)
    remedy = _remedy(made_by)
    if not path.is_file():
        raise BridoError(f"{path} is missing: {remedy}")
    with parsing(lambda reason: f"{path} is no readable Parquet file ({reason}): {remedy}"):
        # Read ahead, it would keep the bytes of all row groups to the end.
        file = pq.ParquetFile(path, pre_buffer=False)
    if schema is not None:
        problems = _differences(file.schema_arrow, schema)
        if problems:
            raise BridoError.from_problems(f"{path} is not the table expected; {remedy}:", problems)
    return file


def _remedy(made_by: str, force: str = "") -> str:
    if made_by:
        return f"make it again with `dvc repro{force} {made_by}`"
    return "put a whole file in its place (one below .brido may be removed)"


def _differences(found: pa.Schema, wanted: pa.Schema) -> list[str]:
    problems = []
    for field in wanted:
        index = found.get_field_index(field.name)
        if index < 0:
            problems.append(f"column `{field.name}` is missing; columns are {found.names}")
        elif not _same_type(found.field(index).type, field.type):
            problems.append(
                f"column `{field.name}` is {found.field(index).type}, expected {field.type}"
            )
    return problems


def _same_type(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether two types hold the same values: names of list items do not matter."""
    if pa.types.is_fixed_size_list(wanted):
        return (
            pa.types.is_fixed_size_list(found)
            and found.list_size == wanted.list_size
            and found.value_type == wanted.value_type
        )
    if pa.types.is_list(wanted):
        return pa.types.is_list(found) and _same_type(found.value_type, wanted.value_type)
    return found == wanted


def read_batches(
    path: Path,
    schema: pa.Schema | None,
    made_by: str,
    columns: list[str] | None = None,
    rows: int = ROWS_PER_GROUP,
) -> Iterator[pa.RecordBatch]:
    """The rows of a table in batches of at most `rows`, in order; constant memory."""
    file = open_table(path, schema, made_by)
    with file, parsing(lambda reason: f"{path} is damaged ({reason}): {_remedy(made_by, ' -f')}"):
        for batch in file.iter_batches(batch_size=rows, columns=columns):
            batch.validate(full=True)  # text that is no UTF-8 would fail far from here
            yield batch


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


def read_metadata(path: Path, made_by: str) -> dict[str, Any]:
    """What the writer said about the whole table (`write_table`'s metadata), {} where nothing."""
    with open_table(path, None, made_by) as file:
        raw = (file.schema_arrow.metadata or {}).get(_METADATA_KEY)
    return json.loads(raw) if raw else {}


def dealt_at_random(scores: Path) -> bool:
    """Whether a table of scores is the control's (`scoring.shuffle`)."""
    scoring = read_metadata(scores, "score").get("scoring") or {}
    return bool(scoring.get("shuffle"))


def write_table(
    path: Path,
    batches: Iterable[pa.RecordBatch | list[dict[str, Any]]],
    schema: pa.Schema,
    metadata: dict[str, Any] | None = None,
) -> int:
    """Write a table atomically and return its number of rows.

    Batches may be Arrow batches or lists of row dictionaries of any size: row groups are cut to
    ROWS_PER_GROUP whatever the batches were, so equal rows make equal bytes.

    Raises:
        BridoError: a row does not fit the schema (a null, another type), or the disk is full.
    """
    full = schema
    if metadata is not None:
        text = json.dumps(metadata, sort_keys=True, ensure_ascii=False)
        full = schema.with_metadata({_METADATA_KEY: text.encode()})
    with (
        atomic_file(path) as temporary,
        pq.ParquetWriter(temporary, full, compression="zstd") as writer,
    ):
        waiting: list[pa.RecordBatch] = []
        for batch in batches:
            waiting.append(_checked(batch, full, path))
            if sum(item.num_rows for item in waiting) >= ROWS_PER_GROUP:
                waiting = _write_full_groups(writer, waiting, full)
        rest = pa.Table.from_batches(waiting, full)
        if rest.num_rows:
            writer.write_table(rest, row_group_size=ROWS_PER_GROUP)
    return count_rows(path, "")


def _write_full_groups(
    writer: pq.ParquetWriter, waiting: list[pa.RecordBatch], schema: pa.Schema
) -> list[pa.RecordBatch]:
    """Write the whole row groups among the waiting rows and return the remaining rows."""
    table = pa.Table.from_batches(waiting, schema)
    whole = table.num_rows - table.num_rows % ROWS_PER_GROUP
    writer.write_table(table.slice(0, whole), row_group_size=ROWS_PER_GROUP)
    return table.slice(whole).combine_chunks().to_batches()


def _checked(
    batch: pa.RecordBatch | list[dict[str, Any]], schema: pa.Schema, path: Path
) -> pa.RecordBatch:
    try:
        if isinstance(batch, list):
            batch = pa.RecordBatch.from_pylist(batch, schema=schema)
        else:
            batch = batch.select(schema.names).cast(schema)
        batch.validate(full=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, KeyError, ValueError) as error:
        raise BridoError(f"{path}: a row does not fit its table: {error}") from error
    for field in schema:
        if not field.nullable and batch.column(field.name).null_count:
            row = batch.column(field.name).is_null().index(True).as_py()
            raise BridoError(f"{path}: column `{field.name}` is null in row {row} of a batch")
    return batch
