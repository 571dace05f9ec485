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
        rest = pa.Table.from_batches([], full)
        for batch in batches:
            rest = pa.concat_tables([rest, pa.Table.from_batches([_checked(batch, full, path)])])
            if whole := rest.num_rows - rest.num_rows % ROWS_PER_GROUP:
                writer.write_table(rest.slice(0, whole), row_group_size=ROWS_PER_GROUP)
                rest = rest.slice(whole).combine_chunks()
        if rest.num_rows:
            writer.write_table(rest, row_group_size=ROWS_PER_GROUP)
    return count_rows(path, "")


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
