"""The validation documents that have candidates, with everything that the report shows of them."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from brido.tables import CORPUS, DECODED, POOL, SCORES, read_batches, similarity_schema
from brido.utils.errors import BridoError, some


class Tables(NamedTuple):
    """Where the tables of the validation split are; decoded: system -> its summaries."""

    corpus: Path
    pool: Path
    similarity: Path
    scores: Path
    decoded: Mapping[str, Path]


@dataclass(frozen=True)
class Case:
    """One document: its text, each system's summary, its N candidates and the run's scores.

    Of each candidate: its text as the model wrote it (`raw`) and cleaned, whether it ended, its
    source, whether it votes, whether it can be elected. similarity: float32 [N, N + 1], the last
    column is the reference's. scores: float64 [N], the run's, NaN for candidates that cannot be
    elected; order: candidates by these scores, best first. `facts` is what the corpus knows of the
    document, None on any corpus but the embedded world.
    """

    id: str
    document: str
    references: list[str]
    facts: Any
    summaries: dict[str, str]
    candidates: list[str]
    raw: list[str]
    ended: list[bool]
    sources: list[str]
    voters: list[bool]
    eligible: list[bool]
    similarity: NDArray[np.float32]
    scores: NDArray[np.float64]
    order: list[int]


def read_cases(tables: Tables) -> list[Case]:
    """Read the documents that have candidates, in the pool's order.

    Raises:
        BridoError: a table is missing or damaged, or the tables hold different documents.
    """
    pool = {
        row["id"]: row
        for batch in read_batches(tables.pool, POOL, "pool")
        for row in batch.to_pylist()
    }
    if not pool:
        return []
    count = len(next(iter(pool.values()))["candidates"])
    documents = chosen_rows(tables.corpus, CORPUS, "download", pool)
    scores = chosen_rows(tables.scores, SCORES, "score", pool)
    matrices = _matrices(tables.similarity, count)
    texts = {
        name: chosen_rows(path, DECODED, f"decode@{name}", pool)
        for name, path in tables.decoded.items()
    }
    found = {tables.similarity: matrices, tables.corpus: documents, tables.scores: scores}
    _check(pool, found | {tables.decoded[name]: rows for name, rows in texts.items()})
    same = ("candidates", "raw", "ended", "sources", "voters", "eligible")
    return [
        Case(
            key,
            documents[key]["document"],
            documents[key]["references"],
            documents[key].get("facts"),
            {name: rows[key]["summary"] for name, rows in texts.items()},
            *(row[name] for name in same),
            matrices[key],
            np.array(scores[key]["scores"], np.float64),
            scores[key]["order"],
        )
        for key, row in pool.items()
    ]


def _matrices(path: Path, count: int) -> dict[str, NDArray[np.float32]]:
    matrices: dict[str, NDArray[np.float32]] = {}
    for batch in read_batches(path, similarity_schema(count), "pairwise"):
        flat = batch.column("similarity").flatten().to_numpy().reshape(-1, count, count + 1)
        matrices.update(zip(batch.column("id").to_pylist(), flat, strict=True))
    return matrices


def chosen_rows(
    path: Path,
    schema: pa.Schema | None,
    made_by: str,
    wanted: Container[str],
    columns: Sequence[str] | None = None,
) -> dict[str, dict[str, Any]]:
    """The rows of a table whose ids are wanted, by id; `columns` beside the id, None for all."""
    names = None if columns is None else ["id", *columns]
    return {
        row["id"]: row
        for batch in read_batches(path, schema, made_by, names)
        for row in batch.to_pylist()
        if row["id"] in wanted
    }


def _check(wanted: Mapping[str, Any], tables: Mapping[Path, Mapping[str, Any]]) -> None:
    problems = []
    for path, rows in tables.items():
        missing = [key for key in wanted if key not in rows]
        if missing:
            problems.append(f"{path} lacks {len(missing):,} of them: {some(missing, 3)}")
    if problems:
        raise BridoError.from_problems(
            "the tables of the validation split hold other documents than the pool; "
            "`dvc repro` makes them again:",
            problems,
        )
