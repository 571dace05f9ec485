"""Candidates that the user made elsewhere, for instance with several different models."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from brido.errors import BridoError, some
from brido.tables import read_records


def read_candidates(path: Path, ids: list[str], num_candidates: int) -> list[dict[str, Any]]:
    """The rows of a candidates table for `ids`, in their order.

    The file is Parquet where it ends in .parquet, else JSON lines; columns id (text), candidates (a
    list of exactly `num_candidates` texts), and if present search_scores (as many numbers; NaN
    otherwise). Further ids are passed over.

    Raises:
        BridoError: the file is unreadable, an id is missing or twice there, or a row has another
            number of candidates or of search scores (all problems named).
    """
    rows = read_records(path)
    _check_columns(path, rows)
    problems = []
    found: dict[str, dict[str, Any]] = {}
    repeated = []
    for row in rows:
        if row["id"] in found:
            repeated.append(row["id"])
        found[row["id"]] = row
    if repeated:
        problems.append(f"{len(repeated)} ids occur more than once: {some(repeated)}")
    missing = [name for name in ids if name not in found]
    if missing:
        problems.append(f"{len(missing)} documents have no candidates: {some(missing)}")
    wanted = [found[name] for name in ids if name in found]
    wrong = [row["id"] for row in wanted if not _fits(row["candidates"], num_candidates)]
    if wrong:
        problems.append(
            f"{len(wrong)} rows have no list of {num_candidates} texts (generation.num_candidates) "
            f"in `candidates`: {some(wrong)}"
        )
    scored = [row for row in wanted if row.get("search_scores")]
    wrong = [row["id"] for row in scored if len(row["search_scores"]) != num_candidates]
    if wrong:
        problems.append(
            f"{len(wrong)} rows have not as many numbers in `search_scores` as candidates: "
            f"{some(wrong)}"
        )
    if problems:
        raise BridoError.from_problems(f"{path} cannot be used as candidates:", problems)
    unknown = [math.nan] * num_candidates
    return [
        {
            "id": row["id"],
            "candidates": row["candidates"],
            "search_scores": row.get("search_scores") or unknown,
        }
        for row in wanted
    ]


def _check_columns(path: Path, rows: list[dict[str, Any]]) -> None:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row.get("id"), str) or "candidates" not in row:
            raise BridoError(
                f"{path}, row {number}: columns `id` (text) and `candidates` (list of texts) are "
                "needed"
            )


def _fits(candidates: Any, count: int) -> bool:
    return (
        isinstance(candidates, list)
        and len(candidates) == count
        and all(isinstance(text, str) for text in candidates)
    )
