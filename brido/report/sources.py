"""The sources of candidates compared: who wrote what, who is elected, who agrees with whom."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from brido.atomic import write_text
from brido.consensus import eligible_scores, ranking
from brido.errors import BridoError
from brido.tables import POOL, read_batches, similarity_schema

_COLUMNS = ("candidates", "cleaned", "not ended", "elected", "distinct", "alike", "agreement")


def write_sources(
    path: Path,
    pool: Path,
    similarity: Path,
    alpha: float,
    normalization: Literal["equation", "listing"],
) -> dict[str, dict[str, Any]]:
    """Write `compare`'s table at `path`, and return it.

    Raises:
        BridoError: a table is missing or damaged, or they hold different documents.
    """
    table = compare(pool, similarity, alpha, normalization)
    write_text(path, json.dumps(table, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    return table


def compare(
    pool: Path, similarity: Path, alpha: float, normalization: Literal["equation", "listing"]
) -> dict[str, dict[str, Any]]:
    """What is true of each source on the documents of a pool, by its name.

    candidates, and how many of them were cleaned, not_ended, or without_vote; elected: share of the
    documents whose first candidate is of this source; distinct: different texts of a document;
    alike: mean similarity of its candidates of a document with each other; agreement: with the
    candidates of the other sources. Means are over documents and candidates that vote; None where
    nobody could be compared.
    """
    counts: dict[str, dict[str, int]] = {}
    means: dict[str, dict[str, list[float]]] = {}
    elected: dict[str, int] = defaultdict(int)
    documents = 0
    for row, matrix in _rows(pool, similarity):
        names, documents = np.array(row["sources"]), documents + 1
        flags = (np.array([row[key]]) for key in ("voters", "eligible"))
        scores = eligible_scores(matrix[None], alpha, normalization, *flags)
        elected[str(names[ranking(scores)[0, 0]])] += 1
        for name in dict.fromkeys(row["sources"]):
            own = names == name
            _count(counts.setdefault(name, defaultdict(int)), row, own)
            _measure(means.setdefault(name, defaultdict(list)), row, own, matrix)
    return {
        name: {
            **count,
            "elected": elected[name] / documents,
            **{key: _mean(means[name][key]) for key in ("distinct", "alike", "agreement")},
        }
        for name, count in counts.items()
    }


def _rows(pool: Path, similarity: Path) -> Iterator[tuple[dict[str, Any], NDArray[np.float32]]]:
    """Each document's row of the pool and its matrix [N, N + 1]."""
    rows = (row for batch in read_batches(pool, POOL, "pool") for row in batch.to_pylist())
    first = next(rows, None)
    if first is None:
        return
    size = len(first["sources"])
    matrices = (
        (name, matrix)
        for batch in read_batches(similarity, similarity_schema(size), "pairwise")
        for name, matrix in zip(
            batch.column("id").to_pylist(),
            batch.column("similarity").flatten().to_numpy().reshape(-1, size, size + 1),
            strict=True,
        )
    )
    row: dict[str, Any] | None = first
    for name, matrix in matrices:
        if row is None or row["id"] != name:
            break
        yield row, matrix
        row = next(rows, None)
    else:
        if row is None:
            return
    raise BridoError(
        f"{similarity} is of other candidates than {pool}: make it again (`dvc repro pairwise`)"
    )


def _count(count: dict[str, int], row: Mapping[str, Any], own: NDArray[np.bool_]) -> None:
    for place in np.flatnonzero(own):
        written = " ".join(row["raw"][place].split())
        count["candidates"] += 1
        count["cleaned"] += written != row["candidates"][place]
        count["not_ended"] += not row["ended"][place]
        count["without_vote"] += not row["voters"][place]


def _measure(
    means: dict[str, list[float]],
    row: Mapping[str, Any],
    own: NDArray[np.bool_],
    matrix: NDArray[np.float32],
) -> None:
    voters = np.array(row["voters"])
    mine, others = np.flatnonzero(own & voters), np.flatnonzero(~own & voters)
    means["distinct"].append(len({row["candidates"][place] for place in mine}))
    if len(mine) > 1:
        within = matrix[np.ix_(mine, mine)][~np.eye(len(mine), dtype=bool)]
        means["alike"].append(float(within.mean(dtype=np.float64)))
    if len(mine) and len(others):
        between = matrix[np.ix_(mine, others)]
        means["agreement"].append(float(between.mean(dtype=np.float64)))


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def sources_rows(table: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The table in words: a heading, then a row a source."""
    rows = [["source", *_COLUMNS]]
    for name, found in table.items():
        numbers = [f"{found[key]:,}" for key in ("candidates", "cleaned", "not_ended")]
        numbers += [f"{100 * found['elected']:.1f} %", f"{found['distinct'] or 0:.1f}"]
        numbers += ["-" if (it := found[key]) is None else f"{it:.3f}" for key in _COLUMNS[-2:]]
        rows.append([name, *numbers])
    return rows


def sources_text(path: Path) -> str:
    """The table that `write_sources` left at `path`, for a terminal.

    Raises:
        BridoError: it is missing or damaged.
    """
    try:
        rows = sources_rows(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise BridoError(f"{path} is missing: make it with `dvc repro report`") from None
    except json.JSONDecodeError as error:
        raise BridoError(f"{path} is damaged ({error}): `dvc repro -f report`") from None
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        ).rstrip()
        for row in rows
    )
