"""The schemas of the pipeline's tables, one each."""

from collections.abc import Iterable

import pyarrow as pa

ROWS_PER_GROUP = 1024
ID = "id"
# Under this key the Parquet metadata hold what is true of the whole table.
METADATA_KEY = b"brido"

FACT = pa.struct(
    [
        pa.field("slot", pa.string(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("value", pa.string(), nullable=False),
        pa.field("in_document", pa.bool_(), nullable=False),
    ]
)


def _schema(*columns: tuple[str, pa.DataType], nullable: str = "") -> pa.Schema:
    """Columns that hold no null, but for the one named `nullable`."""
    return pa.schema([pa.field(name, kind, nullable=name == nullable) for name, kind in columns])


CORPUS = _schema(
    ("id", pa.string()),
    ("document", pa.string()),
    ("summary", pa.string()),
    ("references", pa.list_(pa.string())),
    nullable="summary",  # where the corpus has no references
)
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
    ("whole", pa.list_(pa.bool_())),
    ("copied", pa.list_(pa.float32())),
)
LIKELIHOOD = _schema(
    ("id", pa.string()),
    ("log_probability", pa.list_(pa.float64())),
    ("prior", pa.list_(pa.float64())),
    ("tokens", pa.list_(pa.int32())),
    nullable="prior",  # where no other documents were asked for
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
