"""The pipeline's tables: one Arrow schema each, checked on read and write, written atomically.

A table is read and written as a stream of row batches, so memory does not grow with its length.
What is true of the whole table (settings used, signatures) is in the Parquet metadata.
`brido.tables.join` walks over a split's tables by id.
"""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

# Lines of a file are documents with candidates too, and need no pyarrow.
if TYPE_CHECKING:
    from brido.tables.read import (
        count_rows as count_rows,
    )
    from brido.tables.read import (
        open_table as open_table,
    )
    from brido.tables.read import (
        read_batches as read_batches,
    )
    from brido.tables.read import (
        read_columns as read_columns,
    )
    from brido.tables.read import (
        read_metadata as read_metadata,
    )
    from brido.tables.read import (
        read_range as read_range,
    )
    from brido.tables.read import (
        read_rows as read_rows,
    )
    from brido.tables.schemas import (
        CANDIDATES as CANDIDATES,
    )
    from brido.tables.schemas import (
        CORPUS as CORPUS,
    )
    from brido.tables.schemas import (
        DECODED as DECODED,
    )
    from brido.tables.schemas import (
        FACT as FACT,
    )
    from brido.tables.schemas import (
        GROUPED_CANDIDATES as GROUPED_CANDIDATES,
    )
    from brido.tables.schemas import (
        LIKELIHOOD as LIKELIHOOD,
    )
    from brido.tables.schemas import (
        POOL as POOL,
    )
    from brido.tables.schemas import (
        ROWS_PER_GROUP as ROWS_PER_GROUP,
    )
    from brido.tables.schemas import (
        SCORES as SCORES,
    )
    from brido.tables.schemas import (
        SUPPORT as SUPPORT,
    )
    from brido.tables.schemas import (
        WORLD_CORPUS as WORLD_CORPUS,
    )
    from brido.tables.schemas import (
        evaluation_schema as evaluation_schema,
    )
    from brido.tables.schemas import (
        similarity_schema as similarity_schema,
    )
    from brido.tables.write import write_table as write_table

_PUBLIC = {
    "CANDIDATES": "schemas",
    "CORPUS": "schemas",
    "DECODED": "schemas",
    "FACT": "schemas",
    "GROUPED_CANDIDATES": "schemas",
    "LIKELIHOOD": "schemas",
    "POOL": "schemas",
    "ROWS_PER_GROUP": "schemas",
    "SCORES": "schemas",
    "SUPPORT": "schemas",
    "WORLD_CORPUS": "schemas",
    "count_rows": "read",
    "evaluation_schema": "schemas",
    "open_table": "read",
    "read_batches": "read",
    "read_columns": "read",
    "read_metadata": "read",
    "read_range": "read",
    "read_rows": "read",
    "similarity_schema": "schemas",
    "write_table": "write",
}
__getattr__, __dir__ = lazy(__name__, _PUBLIC, "pipeline")
