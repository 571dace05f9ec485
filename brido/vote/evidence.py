"""The tables of the validation split, read as what the vote check needs."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from brido.tables import (
    LIKELIHOOD,
    POOL,
    SCORES,
    SUPPORT,
    read_columns,
    read_metadata,
    similarity_schema,
)
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError
from brido.vote.select import is_shuffled
from brido.vote.verdict import TOLERANCE, Candidates, Judged, check_votes


class Tables(NamedTuple):
    """Where the tables of one split are; `own`, of base's own output, is a support table."""

    pool: Path
    similarity: Path
    scores: Path
    support: Path
    own: Path
    likelihood: Path


def write_check(tables: Tables, path: Path) -> dict[str, Any]:
    """Check the votes of these tables, write metrics/votes.json at `path`, and return its content.

    Raises:
        BridoError: a table is missing or damaged, or they hold different documents.
    """
    about = read_metadata(tables.support, "support")
    tolerance = 0.0 if about.get("exact") else TOLERANCE
    how = Judged(about.get("judge", "unknown"), tolerance, chance=is_shuffled(tables.scores))
    base = {"base": about["base"]} if "base" in about else {}
    told = base | check_votes(*read_evidence(tables), how)
    write_text(path, json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    return told


def read_evidence(
    tables: Tables,
) -> tuple[Candidates, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """What is known of the candidates, and (unsupported, words) of base's own output.

    Raises:
        BridoError: see `write_check`.
    """
    scores = _arrays(tables.scores, SCORES, "score", ["scores"])
    size = scores["scores"].shape[1]
    columns = ["support", "unsupported", "words"]
    support = _arrays(tables.support, SUPPORT, "support", columns)
    own = _arrays(tables.own, SUPPORT, "support", columns[1:])
    columns = ["log_probability", "tokens"]
    likelihood = _arrays(tables.likelihood, LIKELIHOOD, "likelihood", columns)
    matrix = _arrays(tables.similarity, similarity_schema(size), "pairwise", ["similarity"])
    pool = _arrays(tables.pool, POOL, "pool", ["voters"])
    found = {
        tables.pool: pool,
        tables.scores: scores,
        tables.support: support,
        tables.own: own,
        tables.likelihood: likelihood,
        tables.similarity: matrix,
    }
    _check(found, scores["id"])
    candidates = Candidates(
        scores["scores"],
        pool["voters"],
        matrix["similarity"].reshape(-1, size, size + 1),
        support["unsupported"],
        support["words"],
        likelihood["log_probability"],
        likelihood["tokens"],
        support["support"] if read_metadata(tables.support, "support").get("second") else None,
    )
    return candidates, (own["unsupported"][:, 0], own["words"][:, 0])


def _arrays(path: Path, schema: pa.Schema, made_by: str, columns: list[str]) -> dict[str, Any]:
    """The table's ids, and of each column of lists an array [D, length of the lists]."""
    table = read_columns(path, schema, made_by, ["id", *columns])
    found: dict[str, Any] = {"id": table.column("id").to_pylist()}
    for name in columns:
        rows: Sequence[Any] = table.column(name).to_pylist()
        if len({len(row) for row in rows}) > 1:
            raise BridoError(
                f"{path}: the lists of column `{name}` have different lengths: make it again with "
                f"`dvc repro -f {made_by}`"
            )
        found[name] = np.array(
            [[math.nan if value is None else value for value in row] for row in rows]
        )
    return found


def _check(found: dict[Path, dict[str, Any]], ids: list[str]) -> None:
    problems = [
        f"{path} has {len(arrays['id']):,} documents, not the same {len(ids):,}"
        for path, arrays in found.items()
        if arrays["id"] != ids
    ]
    if problems:
        raise BridoError.from_problems(
            "the tables of the vote check hold different documents; `dvc repro` makes them again:",
            problems,
        )
    if not ids:
        raise BridoError("no validation document has candidates: there is no vote to check")
