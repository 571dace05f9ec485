"""The pipeline's tables: one Arrow schema each, checked on read and write, written atomically.

A table is read and written as a stream of row batches, so memory does not grow with its length.
What is true of the whole table (settings used, signatures) is in the Parquet metadata.
`brido.tables.join` walks over a split's tables by id.
"""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

# Lines of a file are documents with candidates too, and need no pyarrow.
if TYPE_CHECKING:
    from brido.tables.read import *  # noqa: F403
    from brido.tables.schemas import *  # noqa: F403
    from brido.tables.write import *  # noqa: F403

_SCHEMAS = """CANDIDATES CORPUS DECODED FACT GROUPED_CANDIDATES LIKELIHOOD POOL ROWS_PER_GROUP
SCORES SUPPORT WORLD_CORPUS evaluation_schema similarity_schema"""
_READERS = "count_rows has_facts open_table read_batches read_columns read_metadata read_rows"
_PUBLIC = {
    **dict.fromkeys(_SCHEMAS.split(), "schemas"),
    **dict.fromkeys(_READERS.split(), "read"),
    "write_table": "write",
}
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
