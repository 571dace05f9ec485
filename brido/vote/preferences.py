"""Votes, the pipeline's or those of `brido score`, as pairs of a better and a worse candidate."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brido.utils.errors import BridoError, quoted
from brido.utils.json_lines import HALF_PAIR, holds_half_pair, parse_object

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Voted:
    """A document with its candidates, their scores and sources, order best first.

    A score is NaN, and may be missing in the order, where a candidate cannot be elected; sources
    are None where nobody knows them.
    """

    id: str
    document: str
    candidates: Sequence[str]
    scores: Sequence[float]
    order: Sequence[int]
    sources: Sequence[str | None]


def read_votes(data: Path, split: str) -> Iterator[Voted]:
    """The documents of a split that have candidates, with their votes; constant memory.

    Raises:
        BridoError: a table is missing or damaged, or the tables do not belong together.
    """
    from brido.tables import CORPUS, POOL, SCORES

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
    path: Path, schema: "pa.Schema", made_by: str, columns: list[str] | None
) -> Iterator[dict[str, Any]]:
    from brido.tables import read_batches

    for batch in read_batches(path, schema, made_by, columns):
        yield from batch.to_pylist()


def read_scored(lines: Iterable[bytes], name: str) -> Iterator[Voted]:
    """The votes that `brido score` wrote, a JSON object a line; `name` is what messages call them.

    Raises:
        BridoError: a line is no JSON, has no `document`, or its candidates, scores and order do not
            fit together.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _scored(parse_object(line), number)
        except BridoError as error:
            raise BridoError(f"{name}, line {number}: {error}") from None


def _scored(record: dict[str, Any], number: int) -> Voted:
    if holds_half_pair(record):
        raise BridoError(HALF_PAIR)
    document = record.get("document")
    if not isinstance(document, str):
        raise BridoError("`document` must be a text: the prompt is made of it")
    candidates, scores, order, sources = (
        record.get(key) for key in ("candidates", "scores", "order", "sources")
    )
    if not isinstance(candidates, list) or not all(isinstance(text, str) for text in candidates):
        raise BridoError("`candidates` must be a list of texts")
    if not _are_scores(scores, len(candidates)) or not _is_order(order, scores):
        raise BridoError(
            f"`scores` must be {len(candidates)} numbers and `order` their indices, best first: "
            "`brido score` writes both"
        )
    if not isinstance(sources, list) or len(sources) != len(candidates):
        sources = [None] * len(candidates)
    return Voted(
        str(record.get("id", number)),
        document,
        candidates,
        [math.nan if score is None else float(score) for score in scores],
        order,
        [None if source is None else str(source) for source in sources],
    )


def _are_scores(scores: Any, size: int) -> bool:
    return (
        isinstance(scores, list)
        and len(scores) == size
        and all(
            score is None or (isinstance(score, int | float) and not isinstance(score, bool))
            for score in scores
        )
    )


def _is_order(order: Any, scores: list[float | None]) -> bool:
    elected = {place for place, score in enumerate(scores) if score is not None}
    whole = isinstance(order, list) and all(type(place) is int for place in order)
    if not whole or len(order) != len(elected) or set(order) != elected:
        return False
    ranked = [scores[place] for place in order]
    return all(first >= second for first, second in pairwise(ranked))


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
