"""Rows of pairs as JSON lines and Parquet, every file at once and whole or not at all."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from brido.utils.atomic import atomic_file
from brido.utils.extras import extra

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[dict[str, Any]]
Kind = Literal["text", "number", "rank", "messages"]
_BATCH = 4096


def write_pairs(
    documents: Iterable[Rows],
    columns: Mapping[str, Kind],
    outputs: Sequence[Path],
    advance: Callable[[], None],
) -> tuple[int, int, int]:
    """Write the rows of all documents to all outputs at once, atomically; to stdout without any.

    Returns how many rows there were, documents with a row, and documents without.
    """
    rows_written = with_rows = without = 0
    waiting: Rows = []
    with ExitStack() as stack:
        writers = [_writer(stack, path, columns) for path in outputs] or [_print]
        for rows in documents:
            rows_written += len(rows)
            with_rows += bool(rows)
            without += not rows
            waiting += rows
            if len(waiting) >= _BATCH or not outputs:
                for write in writers:
                    write(waiting)
                waiting = []
            advance()
        for write in writers:
            write(waiting)
    return rows_written, with_rows, without


def _writer(stack: ExitStack, path: Path, columns: Mapping[str, Kind]) -> Callable[[Rows], object]:
    temporary = stack.enter_context(atomic_file(path))
    if path.suffix != ".parquet":
        text = stack.enter_context(temporary.open("w", encoding="utf-8"))
        return lambda rows: text.writelines(_lines(rows))
    with extra("pipeline"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    schema = _schema(columns)
    table = stack.enter_context(pq.ParquetWriter(temporary, schema, compression="zstd"))
    return lambda rows: table.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))


def _schema(columns: Mapping[str, Kind]) -> "pa.Schema":
    import pyarrow as pa

    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    kinds = {
        "text": pa.string(),
        "number": pa.float64(),
        "rank": pa.int32(),
        "messages": pa.list_(message),
    }
    return pa.schema([(name, kinds[kind]) for name, kind in columns.items()])


def _print(rows: Rows) -> None:
    sys.stdout.writelines(_lines(rows))
    sys.stdout.flush()


def _lines(rows: Rows) -> list[str]:
    return [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
