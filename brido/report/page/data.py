"""What the page knows of one document: texts cut at their mentions, candidates, similarities."""

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.report.mention_finder import Mention


@dataclass(frozen=True)
class MarkedText:
    """A summary and its mentions."""

    text: str
    mentions: Sequence[Mention] = ()


@dataclass(frozen=True)
class Standing:
    """Which source wrote a candidate ("" where there is one alone), and what it may do."""

    source: str
    votes: bool
    eligible: bool


@dataclass(frozen=True)
class Document:
    """One document of the page; `similarity` is the float32 [N, N+1] matrix of its candidates.

    `scores` [N] are the run's, NaN for candidates that cannot be elected, `order` is the run's.
    `standings` of the candidates, none where all are of one source, vote and can be elected. `read`
    characters of the text reached a prompted model, None where there is no prompt.
    """

    id: str
    text: str
    summaries: Mapping[str, MarkedText]
    candidates: Sequence[MarkedText]
    similarity: NDArray[np.float32]
    scores: Sequence[float]
    order: Sequence[int]
    standings: Sequence[Standing] = ()
    read: int | None = None


def document_json(document: Document) -> dict[str, Any]:
    """The document as the page's scripts read it.

    Text travels as parts, [text] or [text, supported 0 or 1, kind]: offsets would count
    differently in JavaScript outside the Basic Multilingual Plane. The matrix travels as base64
    of little-endian float32: exactly the numbers of the table.
    """
    # Without a reference its column is 0: another alpha then changes nothing.
    matrix = np.ascontiguousarray(np.nan_to_num(document.similarity), dtype="<f4")
    return {
        "id": document.id,
        "text": document.text,
        "summaries": {name: _marked_json(item) for name, item in document.summaries.items()},
        "candidates": [
            _marked_json(item) | standing
            for item, standing in zip(document.candidates, _standings_json(document), strict=True)
        ],
        # JSON has no NaN.
        "scores": [None if math.isnan(score) else score for score in document.scores],
        "order": list(document.order),
        "similarity": base64.b64encode(matrix.tobytes()).decode(),
        **({} if document.read is None else {"read": document.read}),
    }


def _standings_json(document: Document) -> list[dict[str, Any]]:
    if not document.standings:
        return [{} for _ in document.candidates]
    return [
        {"source": one.source, "votes": int(one.votes), "eligible": int(one.eligible)}
        for one in document.standings
    ]


def _marked_json(item: MarkedText) -> dict[str, Any]:
    return {
        "parts": parts(item),
        "unsupported": sum(not mention.supported for mention in item.mentions),
    }


def parts(item: MarkedText) -> list[list[Any]]:
    """The text in pieces, in order: [text], or [text, 1 or 0, kind] for a mention.

    Mentions may come in any order; of two that overlap the one that starts first is shown. An
    empty one has no place in the text.
    """
    result: list[list[Any]] = []
    position = 0
    for mention in sorted(item.mentions, key=lambda m: (m.start, -m.end)):
        if mention.start < position or mention.end <= mention.start:
            continue
        if mention.start > position:
            result.append([item.text[position : mention.start]])
        result.append(
            [item.text[mention.start : mention.end], int(mention.supported), mention.kind]
        )
        position = mention.end
    if position < len(item.text):
        result.append([item.text[position:]])
    return result
