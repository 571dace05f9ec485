"""The sources of candidates compared: who wrote what, who is elected, who is like whom."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from brido.report.text_table import aligned
from brido.tables import (
    CANDIDATES,
    GROUPED_CANDIDATES,
    POOL,
    open_table,
    read_batches,
    read_columns,
    similarity_schema,
)
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, parsing
from brido.vote.consensus import eligible_scores, ranking

_LIKENESS = ("distinct", "alike", "agreement", "within_groups", "between_groups")


@dataclass(frozen=True)
class SourceTables:
    """Of one split: its pool, what the pool counted, its similarities, each source's candidates."""

    pool: Path
    counts: Path
    similarity: Path
    candidates: Mapping[str, Path]


def write_sources(
    path: Path,
    tables: SourceTables,
    alpha: float,
    normalization: Literal["equation", "listing"],
) -> dict[str, dict[str, Any]]:
    """Write `compare`'s table at `path`, and return it.

    Raises:
        BridoError: a table is missing or damaged, or they hold different documents.
    """
    table = compare(tables, alpha, normalization)
    write_text(path, json.dumps(table, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    return table


def compare(
    tables: SourceTables, alpha: float, normalization: Literal["equation", "listing"]
) -> dict[str, dict[str, Any]]:
    """What is true of each source on the documents of a pool, by its name.

    candidates, and how many of them were cleaned, not_ended, or without_vote; other_script and
    markup_left as the pool counted them, left-out documents included; elected: share of the
    documents whose first candidate is of this source; distinct: different texts of a document;
    alike: mean similarity of its candidates of a document with each other; agreement: with the
    candidates of the other sources; within_groups and between_groups: alike, of two candidates that
    one group of beams wrote, and of two that two groups wrote. Means are over documents and
    candidates that vote; None where nobody could be compared.
    """
    odd = _odd(tables.counts, tables.pool.stem)
    groups = {name: _groups(path, name) for name, path in tables.candidates.items()}
    counts: dict[str, dict[str, int]] = {}
    means: dict[str, dict[str, list[float]]] = {}
    elected: dict[str, int] = defaultdict(int)
    documents = 0
    for row, matrix in _rows(tables.pool, tables.similarity):
        names, documents = np.array(row["sources"]), documents + 1
        flags = (np.array([row[key]]) for key in ("voters", "eligible"))
        scores = eligible_scores(matrix[None], alpha, normalization, *flags)
        elected[str(names[ranking(scores)[0, 0]])] += 1
        for name in dict.fromkeys(row["sources"]):
            own = names == name
            _count(counts.setdefault(name, defaultdict(int)), row, own)
            writers = groups.get(name, {}).get(row["id"])
            _measure(means.setdefault(name, defaultdict(list)), row, own, matrix, writers)
    return {
        name: {
            **count,
            **{key: odd.get(name, {}).get(key, 0) for key in ("other_script", "markup_left")},
            "elected": elected[name] / documents,
            **{key: _mean(means[name][key]) for key in _LIKENESS},
        }
        for name, count in counts.items()
    }


def _odd(counts: Path, split: str) -> Mapping[str, Mapping[str, int]]:
    """What stage pool counted of each source."""
    remedy = "`dvc repro -f pool`"
    with parsing(lambda reason: f"{counts} cannot be read ({reason}): make it with {remedy}"):
        return json.loads(counts.read_text(encoding="utf-8"))[split]["sources"]


def _groups(path: Path, source: str) -> dict[str, list[int]]:
    """Of each document the groups of beams that wrote a source's candidates; {} without groups."""
    made_by = f"generate@{source}"
    with open_table(path, CANDIDATES, made_by) as file:
        if "groups" not in file.schema_arrow.names:
            return {}
    rows = read_columns(path, GROUPED_CANDIDATES, made_by, ["id", "groups"])
    return dict(zip(*(rows.column(name).to_pylist() for name in rows.column_names), strict=True))


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
    groups: list[int] | None,
) -> None:
    voters = np.array(row["voters"])
    mine, others = np.flatnonzero(own & voters), np.flatnonzero(~own & voters)
    means["distinct"].append(len({row["candidates"][place] for place in mine}))
    each, pairs = matrix[np.ix_(mine, mine)], ~np.eye(len(mine), dtype=bool)
    found = {"alike": each[pairs], "agreement": matrix[np.ix_(mine, others)]}
    if groups is not None:
        wrote = np.array(groups)[voters[own]]
        same = wrote[:, None] == wrote
        found |= {"within_groups": each[pairs & same], "between_groups": each[~same]}
    for name, values in found.items():
        if values.size:
            means[name].append(float(values.mean(dtype=np.float64)))


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


_COUNTS = {
    "candidates": "candidates",
    "cleaned": "cleaned",
    "not_ended": "not ended",
    "other_script": "other script",
    "markup_left": "markup",
}
_MEANS = ("alike", "agreement")
_GROUPS = ("within_groups", "between_groups")


def sources_rows(table: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """The table in words: a heading, then a row a source.

    Where no group wrote two candidates, those of different groups are all there are: `alike` says
    everything.
    """
    grouped = any(found.get("within_groups") is not None for found in table.values())
    means = [*_MEANS, *(_GROUPS if grouped else ())]
    names = [name.replace("_", " ") for name in means]
    rows = [["source", *_COUNTS.values(), "elected", "distinct", *names]]
    for name, found in table.items():
        # Tables of an older version lack some.
        numbers = [f"{found.get(key, 0):,}" for key in _COUNTS]
        numbers += [f"{100 * found['elected']:.1f} %", f"{found['distinct'] or 0:.1f}"]
        numbers += ["-" if (it := found.get(key)) is None else f"{it:.3f}" for key in means]
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
    return "\n".join(aligned(rows))
