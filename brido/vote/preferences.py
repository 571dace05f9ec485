"""Scored documents, the pipeline's or those of `brido score`, as pairs of candidates."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, Literal

from brido.rouge import similarity_matrix
from brido.tables.documents import CandidateDocument
from brido.utils.blank import is_blank
from brido.utils.errors import BridoError
from brido.utils.json_lines import is_number, read_objects
from brido.utils.text import seeing_tokenizer

if TYPE_CHECKING:
    from brido.tables.join import SplitTables

Rejected = Literal["worst", "lower-half"]


def read_votes(tables: "SplitTables") -> Iterator[CandidateDocument]:
    """Yield the documents of a split that have candidates, with their scores; constant memory.

    Raises:
        BridoError: a table is missing or damaged, or the tables do not belong together.
    """
    from brido.tables.join import read_documents

    columns = ["document", "candidates", "sources", "scores", "order"]
    for documents in read_documents(tables, columns):
        yield from documents


def read_scored(lines: Iterable[bytes], name: str) -> Iterator[CandidateDocument]:
    """The documents that `brido score` scored, a JSON object a line; messages call them `name`.

    Raises:
        BridoError: a line is not JSON, has no `document`, or its candidates, scores and order do
            not fit together.
    """
    for number, record, problem in read_objects(lines):
        try:
            if problem:
                raise BridoError(problem)
            yield _scored(record, number)
        except BridoError as error:
            raise BridoError(f"{name}, line {number}: {error}") from None


def _scored(record: dict[str, Any], number: int) -> CandidateDocument:
    document = record.get("document")
    if not isinstance(document, str) or is_blank(document):
        raise BridoError("`document` must be a text, and not blank: the prompt is made from it")
    candidates: Any = record.get("candidates")
    scores, order, sources = (record.get(key, ()) for key in ("scores", "order", "sources"))
    if not isinstance(candidates, list) or not all(isinstance(text, str) for text in candidates):
        raise BridoError("`candidates` must be a list of texts")
    if not _are_scores(scores, len(candidates)) or not _is_order(order, scores):
        raise BridoError(
            f"`scores` must be {len(candidates)} numbers and `order` their indices, best first: "
            "`brido score` writes both"
        )
    if not isinstance(sources, list) or len(sources) != len(candidates):
        sources = [None] * len(candidates)
    name = record.get("id")
    return CandidateDocument(
        str(number if name is None else name),
        document,
        candidates=candidates,
        scores=[math.nan if score is None else float(score) for score in scores],
        order=order,
        sources=[None if source is None else str(source) for source in sources],
    )


def _are_scores(scores: Any, size: int) -> bool:
    return (
        isinstance(scores, list)
        and len(scores) == size
        and all(score is None or is_number(score) for score in scores)
    )


def _is_order(order: Any, scores: list[float | None]) -> bool:
    elected = {place for place, score in enumerate(scores) if score is not None}
    whole = isinstance(order, list) and all(type(place) is int for place in order)
    if not whole or len(order) != len(elected) or set(order) != elected:
        return False
    ranked = [scores[place] for place in order]
    return all(first >= second for first, second in pairwise(ranked))


def pairs(
    item: CandidateDocument,
    everything: bool,
    min_gap: float,
    left_out: Counter[str],
    rejected: Rejected = "worst",
    max_similarity: float = 1.0,
) -> Iterator[tuple[int, int]]:
    """Yield (rank, rank) of the better and the worse candidate of each pair; 0 is the best.

    Every pair, or the best candidate against one: the worst, or by `lower-half` one of the worse
    half, drawn by the document's id (SEALONG, 2411.08147). The scores differ by more than
    `min_gap`. Left out, and counted in `left_out`, are empty texts, candidates without a score
    (they could not be elected), pairs of equal texts, and pairs whose R (harmonic_r1_r2) is above
    `max_similarity`.
    """
    texts = [item.candidates[place] for place in item.order]
    ranks = []
    for rank, place in enumerate(item.order):
        if is_blank(texts[rank]):
            left_out["empty candidates"] += 1
        elif math.isnan(item.scores[place]):
            left_out["candidates that could not be elected"] += 1
        else:
            ranks.append(rank)
    wanted = list(combinations(ranks, 2)) if everything else [(ranks[0], n) for n in ranks[1:]]
    if max_similarity < 1 and wanted:
        words = seeing_tokenizer(texts)
        similar = similarity_matrix(texts, "", "harmonic_r1_r2", tokenizer=words)
        kept = [pair for pair in wanted if similar[pair] <= max_similarity]
        left_out["candidates too similar to a better one"] += len(wanted) - len(kept)
        wanted = kept
    if not everything and wanted:
        wanted = [_rejecting(item.id, wanted, ranks, rejected)]
    for better, worse in wanted:
        gap = item.scores[item.order[better]] - item.scores[item.order[worse]]
        if gap > min_gap and texts[better].split() != texts[worse].split():
            yield better, worse
        elif gap > min_gap:
            left_out["pairs of equal texts"] += 1


def _rejecting(
    name: str, wanted: Sequence[tuple[int, int]], ranks: Sequence[int], rejected: Rejected
) -> tuple[int, int]:
    """Return the pair of the best candidate and the one that is rejected."""
    lower = ranks[(len(ranks) + 1) // 2 :]
    drawable = [pair for pair in wanted if pair[1] in lower]
    if rejected == "worst" or not drawable:
        return wanted[-1]
    drawn = blake2b(f"rejected {name}".encode(), digest_size=8).digest()
    return drawable[int.from_bytes(drawn) % len(drawable)]
