"""Stage score: Eq. 2, from similarities to every candidate's score and their order."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from brido.config import load_params
from brido.consensus import consensus_scores, ranking
from brido.errors import BridoError, run_command
from brido.progress import Progress
from brido.settings import Params
from brido.tables import (
    SCORES,
    count_rows,
    open_table,
    read_batches,
    read_metadata,
    similarity_schema,
    write_table,
)
from stages import paths

SPLITS = ("train", "validation")


def main() -> None:
    """Write data/scores/{train,validation}.parquet."""
    params = load_params()
    for split in SPLITS:
        source = paths.similarity(split)
        size = _candidates_per_row(source)
        metadata = {
            "scoring": params.scoring.model_dump(mode="json"),
            "num_candidates": size,
            # Which candidates these scores are of: training checks it.
            "candidates": read_metadata(source, "pairwise").get("candidates"),
        }
        write_table(paths.scores(split), _scores(split, size, params), SCORES, metadata)


def _candidates_per_row(source: Path) -> int:
    """N of a similarity table, whose lists hold N (N + 1) values."""
    with open_table(source, None, "pairwise") as file:
        schema = file.schema_arrow
    field = schema.field("similarity") if "similarity" in schema.names else None
    if field is None or not pa.types.is_fixed_size_list(field.type):
        raise BridoError(f"{source} is no similarity table: make it again with pairwise")
    size = math.isqrt(field.type.list_size)
    if size * (size + 1) != field.type.list_size:
        raise BridoError(f"{source}: {field.type.list_size} values a row are no N (N + 1)")
    return size


def _scores(split: str, size: int, params: Params) -> Iterator[pa.RecordBatch]:
    source = paths.similarity(split)
    documents = count_rows(source, "pairwise")
    with Progress(f"score {split}", documents, interval=params.runtime.log_seconds) as progress:
        for batch in read_batches(source, similarity_schema(size), "pairwise"):
            values = batch.column("similarity").flatten().to_numpy(zero_copy_only=False)
            similarity = values.reshape(batch.num_rows, size, size + 1)
            _check(source, batch.column("id"), similarity)
            scores = consensus_scores(
                similarity, params.scoring.alpha, params.scoring.normalization
            )
            order = ranking(scores).astype(np.int32)
            offsets = np.arange(0, scores.size + 1, size, dtype=np.int32)
            columns = [
                batch.column("id"),
                pa.ListArray.from_arrays(offsets, scores.reshape(-1)),
                pa.ListArray.from_arrays(offsets, order.reshape(-1)),
            ]
            yield pa.record_batch(columns, names=SCORES.names)
            progress.advance(batch.num_rows)


def _check(source: Path, ids: pa.Array, similarity: np.ndarray) -> None:
    bad = ~np.isfinite(similarity).all((1, 2))
    if bad.any():
        name = ids[int(bad.argmax())].as_py()
        raise BridoError(f"{source}: the row of id {name!r} holds values that are no numbers")


if __name__ == "__main__":
    run_command(main)
