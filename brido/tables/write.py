"""Write a table atomically: equal rows make equal bytes."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from brido.tables.read import count_rows, null_in
from brido.tables.schemas import METADATA_KEY, ROWS_PER_GROUP
from brido.utils.atomic import atomic_file
from brido.utils.errors import BridoError


def write_table(
    path: Path,
    batches: Iterable[pa.RecordBatch | list[dict[str, Any]]],
    schema: pa.Schema,
    metadata: dict[str, Any] | None = None,
) -> int:
    """Write a table atomically and return its number of rows.

    Batches may be Arrow batches or lists of row dictionaries of any size: row groups are cut to
    ROWS_PER_GROUP for all of them, so equal rows make equal bytes.

    Raises:
        BridoError: a row does not fit the schema (a null, another type), or the disk is full.
    """
    full = schema
    if metadata is not None:
        text = json.dumps(metadata, sort_keys=True, ensure_ascii=False)
        full = schema.with_metadata({METADATA_KEY: text.encode()})
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
    if found := null_in(batch, schema):
        raise BridoError(f"{path}: {found}")
    return batch
