"""The votes of a split as pairs of candidates, a better one and a worse one."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa

from brido.errors import BridoError, quoted
from brido.tables import CORPUS, POOL, SCORES, read_batches


@dataclass(frozen=True)
class Voted:
    """A document with its candidates, their scores and sources, order best first."""

    id: str
    document: str
    candidates: Sequence[str]
    scores: Sequence[float]
    order: Sequence[int]
    sources: Sequence[str]


def read_votes(data: Path, split: str) -> Iterator[Voted]:
    """The documents of a split that have candidates, with their votes; constant memory.

    Raises:
        BridoError: a table is missing or damaged, or the tables do not belong together.
    """
    name = f"{split}.parquet"
    corpus = _each(data / "corpus" / name, CORPUS, "download", ["id", "document"])
    candidates = _each(data / "pool" / name, POOL, "pool", ["id", "candidates", "sources"])
    scores = _each(data / "scores" / name, SCORES, "score", None)
    for row, vote in zip(candidates, scores, strict=False):
        # Candidates are made for the first documents, some perhaps left out: walk on to theirs.
        document = next((item for item in corpus if item["id"] == row["id"]), None)
        if document is None or vote["id"] != row["id"]:
            raise BridoError(
                f"{data}: corpus, candidates and scores of {split} hold different documents from "
                f"{quoted(row['id'])} on: `dvc repro score` makes them agree"
            )
        yield Voted(
            row["id"],
            document["document"],
            row["candidates"],
            vote["scores"],
            vote["order"],
            row["sources"],
        )


def _each(
    path: Path, schema: pa.Schema, made_by: str, columns: list[str] | None
) -> Iterator[dict[str, Any]]:
    for batch in read_batches(path, schema, made_by, columns):
        yield from batch.to_pylist()


def pairs(
    item: Voted, everything: bool, min_gap: float, left_out: Counter[str]
) -> Iterator[tuple[int, int]]:
    """(rank, rank) of the better and the worse candidate of each pair, 0 is the best.

    Only the best against the worst, or every pair, where the scores differ by more than `min_gap`.
    An empty text teaches nothing but to be silent, a candidate that could not be elected has no
    score, and a pair of equal texts teaches nothing at all: what of these is left out is counted in
    `left_out`.
    """
    texts = [item.candidates[place] for place in item.order]
    ranks = []
    for rank, place in enumerate(item.order):
        if not texts[rank].strip():
            left_out["empty candidates"] += 1
        elif math.isnan(item.scores[place]):
            left_out["candidates that could not be elected"] += 1
        else:
            ranks.append(rank)
    wanted = combinations(ranks, 2) if everything else zip(ranks[:1], ranks[1:][-1:], strict=False)
    for better, worse in wanted:
        gap = item.scores[item.order[better]] - item.scores[item.order[worse]]
        if gap > min_gap and texts[better].split() != texts[worse].split():
            yield better, worse
        elif gap > min_gap:
            left_out["pairs of equal texts"] += 1
