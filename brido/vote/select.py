"""The run's vote: from a split's tables to the scores of its candidates, batch by batch.

`consensus` knows arrays alone; here tables are read side by side, and the settings decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from brido.tables import (
    POOL,
    SUPPORT,
    open_table,
    read_batches,
    read_metadata,
    similarity_schema,
)
from brido.utils.errors import BridoError, quoted
from brido.vote.consensus import eligible_scores
from brido.vote.signals import shuffled_scores, supported_scores

if TYPE_CHECKING:
    from brido.vote.settings import ScoringSettings

Found = dict[str, pa.RecordBatch | None]


class Ballots(NamedTuple):
    """Where the tables of one split are; support is read where it votes."""

    pool: Path
    similarity: Path
    support: Path


class Voted(NamedTuple):
    """Some documents: ids, their candidates, and the candidates' scores [documents, N]."""

    ids: pa.Array
    candidates: pa.ListArray
    scores: np.ndarray


def vote(ballots: Ballots, scoring: ScoringSettings, alpha: float) -> Iterator[Voted]:
    """The scores of a split's candidates at `alpha`, in the tables' order; constant memory.

    NaN for who cannot be elected.

    Raises:
        BridoError: a table is missing or damaged, or is of other candidates than the pool.
    """
    size = candidates_per_row(ballots.similarity)
    columns = ["id", "candidates", "voters", "eligible"]
    streams: dict[str, tuple[Any, ...]] = {
        "pool": (ballots.pool, POOL, "pool", columns),
        "similarity": (ballots.similarity, similarity_schema(size), "pairwise"),
    }
    if scoring.support_weight:
        streams["support"] = (ballots.support, SUPPORT, "support", ["id", "support"])
    for parts in zip_longest(*(read_batches(*how) for how in streams.values())):
        found = dict(zip(streams, parts, strict=True))
        _check_same(ballots, found, size)
        yield _voted(ballots, found, size, scoring, alpha)


def _voted(
    ballots: Ballots, found: Found, size: int, scoring: ScoringSettings, alpha: float
) -> Voted:
    pool, batch = found["pool"], found["similarity"]
    assert pool is not None
    assert batch is not None
    similarity = _values(batch, "similarity", size * (size + 1)).reshape(-1, size, size + 1)
    _check_numbers(ballots.similarity, pool.column("id"), similarity, alpha)
    who = [_values(pool, name, size) for name in ("voters", "eligible")]
    scores = eligible_scores(similarity, alpha, scoring.normalization, *who)
    if scoring.support_weight:
        support = _values(found["support"], "support", size)
        scores = supported_scores(scores, support, scoring.support_weight)
    if scoring.shuffle:
        scores = shuffled_scores(scores, pool.column("id").to_pylist())
    return Voted(pool.column("id"), pool.column("candidates"), scores)


def is_shuffled(scores: Path) -> bool:
    """Whether a table of scores is the control's (`scoring.shuffle`)."""
    scoring = read_metadata(scores, "score").get("scoring") or {}
    return bool(scoring.get("shuffle"))


def candidates_per_row(source: Path) -> int:
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


def _values(batch: Any, name: str, size: int) -> np.ndarray:
    """A column of lists as [rows, size]."""
    return batch.column(name).flatten().to_numpy(zero_copy_only=False).reshape(-1, size)


def _check_same(ballots: Ballots, found: Found, size: int) -> None:
    """Every table goes on with the pool's documents, with N values each."""
    pool = found["pool"]
    lists = {"pool": "voters", "support": "support"}
    for name, batch in found.items():
        if (
            batch is None
            or pool is None
            or not batch.column("id").equals(pool.column("id"))
            or (name in lists and len(batch.column(lists[name]).flatten()) != size * len(batch))
        ):
            stage = "pairwise" if name in ("pool", "similarity") else name
            table = getattr(ballots, "similarity" if name == "pool" else name)
            raise BridoError(
                f"{table} is of other candidates than {ballots.pool}: make it again "
                f"(`dvc repro {stage}`)"
            )


def _check_numbers(source: Path, ids: pa.Array, similarity: np.ndarray, alpha: float) -> None:
    """BridoError for values that are no numbers; NaN with the reference says that there is none."""
    unlabelled = np.isnan(similarity[:, :, -1]).all(1)
    if alpha and unlabelled.any():
        name = ids[int(unlabelled.argmax())].as_py()
        raise BridoError(
            f"scoring.alpha: {alpha:g} asks the reference, and id {quoted(name)} has none: without "
            "references only 0 has a meaning"
        )
    bad = ~(
        np.isfinite(similarity[:, :, :-1]).all((1, 2))
        & (unlabelled | np.isfinite(similarity[:, :, -1]).all(1))
    )
    if bad.any():
        name = ids[int(bad.argmax())].as_py()
        raise BridoError(f"{source}: the row of id {quoted(name)} holds values that are no numbers")
