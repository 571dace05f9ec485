"""The documents of the page, as its scripts read them.

A document is texts cut at their mentions, scores and similarities.
"""

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from brido.checkers.mentions import Mention, mentions_of
from brido.checkers.wholeness import why_not_whole
from brido.tables.documents import CandidateDocument


@dataclass(frozen=True)
class Shown:
    """A document of the page with its mentions: of each candidate, and of each system's summary.

    broken: why the summary of a system is not whole; no entry where it is.
    """

    case: CandidateDocument
    candidates: list[list[Mention]]
    summaries: dict[str, list[Mention]]
    broken: dict[str, str] = field(default_factory=dict)


def shown(case: CandidateDocument, case_sensitive: bool) -> Shown:
    """The document with the mentions of all its texts, as the metric `mentions` counts them."""

    def found(text: str) -> list[Mention]:
        return mentions_of(case.document, text, case.facts, case_sensitive)

    reference = next(iter(case.references or ()), None)
    broken = {
        system: why
        for system, text in case.summaries.items()
        if (why := why_not_whole(text, reference, case.facts, case.document))
    }
    summaries = {system: found(text) for system, text in case.summaries.items()}
    return Shown(case, [found(text) for text in case.candidates], summaries, broken)


def document_json(shown: Shown) -> dict[str, Any]:
    """The document as the page's scripts read it.

    Text travels as parts, [text] or [text, supported 0 or 1, kind]: offsets would count
    differently in JavaScript outside the Basic Multilingual Plane. The matrix travels as base64
    of little-endian float32: exactly the numbers of the table.
    """
    case = shown.case
    candidates = zip(case.candidates, shown.candidates, _origins(case), strict=True)
    assert case.similarity is not None
    # Without a reference its column is 0: another alpha then changes nothing.
    matrix = np.ascontiguousarray(np.nan_to_num(case.similarity), dtype="<f4")
    summaries = {
        name: _marked(text, shown.summaries[name]) for name, text in case.summaries.items()
    }
    for name, why in shown.broken.items():
        summaries[name]["broken"] = why
    return {
        "id": case.id,
        "text": case.document,
        "summaries": summaries,
        "candidates": [_marked(text, found) | origin for text, found, origin in candidates],
        # JSON has no NaN.
        "scores": [None if math.isnan(score) else score for score in case.scores],
        "order": list(case.order),
        "similarity": base64.b64encode(matrix.tobytes()).decode(),
    }


def _origins(case: CandidateDocument) -> list[dict[str, Any]]:
    """Each candidate's source and rights; nothing where all are of one source and can win."""
    several = len(set(case.sources)) > 1
    if not several and all(case.eligible):
        return [{} for _ in case.candidates]
    return [
        {"source": source if several else "", "votes": int(votes), "eligible": int(eligible)}
        for source, votes, eligible in zip(case.sources, case.voters, case.eligible, strict=True)
    ]


def _marked(text: str, mentions: Sequence[Mention]) -> dict[str, Any]:
    unsupported = sum(not mention.supported for mention in mentions)
    return {"parts": parts(text, mentions), "unsupported": unsupported}


def parts(text: str, mentions: Sequence[Mention]) -> list[list[Any]]:
    """The text in pieces, in order: [text], or [text, 1 or 0, kind] for a mention.

    Mentions may come in any order; of two that overlap the one that starts first is shown. An
    empty one has no place in the text.
    """
    result: list[list[Any]] = []
    position = 0
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end)):
        if mention.start < position or mention.end <= mention.start:
            continue
        if mention.start > position:
            result.append([text[position : mention.start]])
        result.append([text[mention.start : mention.end], int(mention.supported), mention.type])
        position = mention.end
    if position < len(text):
        result.append([text[position:]])
    return result
