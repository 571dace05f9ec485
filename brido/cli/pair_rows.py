"""Scored rows of a file as documents with candidates, and their pairs as rows for trainers."""

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from brido.cli.candidates import candidates_problem
from brido.tables.documents import CandidateDocument
from brido.utils.ids import id_text
from brido.utils.json_lines import is_number

Messages = list[dict[str, str]]


def scored_problem(row: dict[str, Any]) -> str:
    """What is wrong with a row that `brido score` shall have written of a document, or ""."""
    if problem := candidates_problem(row, ["document"]):
        return problem
    scores, order, size = row.get("scores"), row.get("order"), len(row["candidates"])
    right = (
        isinstance(scores, list)
        and len(scores) == size
        and all(score is None or is_number(score) for score in scores)
        and _ranks(order, scores)
    )
    if right:
        return ""
    return f"`scores` must be {size} numbers and `order` their indices: `brido score` writes both"


def _ranks(order: Any, scores: list[float | None]) -> bool:
    """Whether an order has the candidates with a score, each once and best first."""
    elected = [place for place, score in enumerate(scores) if score is not None]
    if not isinstance(order, list) or any(type(place) is not int for place in order):
        return False
    if sorted(order) != elected:
        return False
    ranked: list[Any] = [scores[place] for place in order]
    return all(first >= second for first, second in pairwise(ranked))


def scored_document(row: dict[str, Any], number: int) -> CandidateDocument:
    """A row in which `scored_problem` found nothing; number: its id where it has none."""
    size, sources = len(row["candidates"]), row.get("sources")
    if not isinstance(sources, list) or len(sources) != size:
        sources = [None] * size
    return CandidateDocument(
        id_text(row.get("id", number)) or "",
        row["document"],
        candidates=row["candidates"],
        scores=[math.nan if score is None else float(score) for score in row["scores"]],
        order=row["order"],
        sources=[None if source is None else str(source) for source in sources],
    )


def pair_rows(
    item: CandidateDocument,
    ranks: Iterable[tuple[int, int]],
    pieces: tuple[str, ...],
    conversation: Callable[[str], Messages] | None,
) -> list[dict[str, Any]]:
    """The rows of a document's pairs, each by the ranks of its better and its worse candidate.

    pieces: the prompt around its document, as in `brido.models.chats.pieces_of`.
    conversation: makes the messages of a document; None writes texts.
    """
    rows = [_row(item, *pair) for pair in ranks]
    messages = conversation(item.document) if conversation and rows else None
    for row in rows:
        row["prompt"] = messages or item.document.join(pieces)
        for key in ("chosen", "rejected"):
            text = row[key].strip()
            row[key] = [{"role": "assistant", "content": text}] if messages else f" {row[key]}"
    return rows


def _row(item: CandidateDocument, better: int, worse: int) -> dict[str, Any]:
    """A pair as a row; ranks count from 1. The margin is the weight of ScPO (2411.04109)."""
    first, second = item.order[better], item.order[worse]
    return {
        "id": item.id,
        "prompt": "",
        "chosen": item.candidates[first],
        "rejected": item.candidates[second],
        "source_chosen": item.sources[first],
        "source_rejected": item.sources[second],
        "score_chosen": item.scores[first],
        "score_rejected": item.scores[second],
        "margin": item.scores[first] - item.scores[second],
        "rank_chosen": better + 1,
        "rank_rejected": worse + 1,
    }
