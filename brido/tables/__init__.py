"""The pipeline's tables: one Arrow schema each, checked on read and write, written atomically.

A table is read and written as a stream of row batches, so memory does not grow with its length.
What is true of the whole table (settings used, signatures) is in the Parquet metadata.
`brido.tables.join` walks over a split's tables by id.
"""

from brido.tables.read import (
    count_rows,
    open_table,
    read_batches,
    read_columns,
    read_metadata,
    read_range,
    read_rows,
)
from brido.tables.schemas import (
    CANDIDATES,
    CORPUS,
    DECODED,
    FACT,
    GROUPED_CANDIDATES,
    LIKELIHOOD,
    POOL,
    ROWS_PER_GROUP,
    SCORES,
    SUPPORT,
    WORLD_CORPUS,
    evaluation_schema,
    similarity_schema,
)
from brido.tables.write import write_table

__all__ = [
    "CANDIDATES",
    "CORPUS",
    "DECODED",
    "FACT",
    "GROUPED_CANDIDATES",
    "LIKELIHOOD",
    "POOL",
    "ROWS_PER_GROUP",
    "SCORES",
    "SUPPORT",
    "WORLD_CORPUS",
    "count_rows",
    "evaluation_schema",
    "open_table",
    "read_batches",
    "read_columns",
    "read_metadata",
    "read_range",
    "read_rows",
    "similarity_schema",
    "write_table",
]
