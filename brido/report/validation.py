"""The validation documents that have candidates, with everything the votes and the page need."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from brido.tables import CORPUS, DECODED, POOL, read_batches, similarity_schema
from brido.utils.errors import BridoError, some


@dataclass(frozen=True)
class Case:
    """One document: its text, each system's summary, N candidates and their [N, N+1] matrix.

    Of each candidate: its source, whether it votes, whether it can be elected.
    `facts` is what the corpus knows of the document, None on any corpus but the embedded world.
    """

    id: str
    document: str
    references: list[str]
    facts: Any
    summaries: dict[str, str]
    candidates: list[str]
    similarity: NDArray[np.float32]
    sources: list[str]
    voters: list[bool]
    eligible: list[bool]


def read_cases(
    corpus: Path, candidates: Path, similarity: Path, decoded: Mapping[str, Path]
) -> list[Case]:
    """The documents that have candidates, in the candidates' order.

    Raises:
        BridoError: a table is missing or damaged, or the tables hold different documents.
    """
    chosen = {
        row["id"]: row
        for batch in read_batches(candidates, POOL, "pool")
        for row in batch.to_pylist()
    }
    if not chosen:
        return []
    count = len(next(iter(chosen.values()))["candidates"])
    matrices: dict[str, NDArray[np.float32]] = {}
    for batch in read_batches(similarity, similarity_schema(count), "pairwise"):
        ids = batch.column("id").to_pylist()
        flat = batch.column("similarity").flatten().to_numpy().reshape(-1, count, count + 1)
        matrices.update(zip(ids, flat, strict=True))
    documents = chosen_rows(corpus, CORPUS, "download", chosen)
    texts = {name: chosen_rows(path, DECODED, "decode", chosen) for name, path in decoded.items()}
    _check(chosen, {str(similarity): matrices, str(corpus): documents})
    _check(chosen, {str(decoded[name]): rows for name, rows in texts.items()})
    return [
        Case(
            key,
            documents[key]["document"],
            documents[key]["references"],
            documents[key].get("facts"),
            {name: rows[key]["summary"] for name, rows in texts.items()},
            row["candidates"],
            matrices[key],
            row["sources"],
            row["voters"],
            row["eligible"],
        )
        for key, row in chosen.items()
    ]


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


def _check(wanted: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]) -> None:
    problems = []
    for path, rows in tables.items():
        missing = [key for key in wanted if key not in rows]
        if missing:
            problems.append(f"{path} lacks {len(missing):,} of them: {some(missing, 3)}")
    if problems:
        raise BridoError.from_problems(
            "the tables of the validation split hold other documents than the candidates; "
            "`dvc repro` makes them again:",
            problems,
        )
