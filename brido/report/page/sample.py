"""Which documents the page shows, and on which it opens: one where a minority is voted out."""

import random
from collections.abc import Sequence

import numpy as np

from brido.report.settings import ReportSettings
from brido.report.unsupported import CaseMentions, unsupported_kinds
from brido.tables.documents import CandidateDocument


def sample(
    cases: Sequence[CandidateDocument],
    found: Sequence[CaseMentions],
    baseline: str,
    settings: ReportSettings,
) -> list[int]:
    """Places of documents: first the one to open on, then others drawn at random, in order.

    found: the mentions of `cases`, aligned; baseline: as in `first_document`.
    """
    if not cases:
        return []
    size = min(settings.page_documents, len(cases))
    drawn = random.Random(settings.seed).sample(range(len(cases)), size)
    first = first_document(cases, found, baseline)
    return [first, *sorted([place for place in drawn if place != first][: size - 1])]


def first_document(
    cases: Sequence[CandidateDocument], found: Sequence[CaseMentions], baseline: str
) -> int:
    """The place in `cases` of the document that shows best what a vote does.

    The first candidate of the run's order is supported there, while some candidates that can be
    elected, but fewer than half of them, are not. Preferred are documents in which the summary by
    the system `baseline` is not supported either; then the one whose first candidate has most more
    score than the unsupported ones have on average. Where no document shows it, the first.
    """
    shown = [
        (_shows(case, mentions, baseline), -place)
        for place, (case, mentions) in enumerate(zip(cases, found, strict=True))
    ]
    return -max(shown)[1]


def _shows(case: CandidateDocument, found: CaseMentions, baseline: str) -> tuple[bool, bool, float]:
    """How well a document shows it, more is better; begins with False where it does not."""
    wrong = np.array([bool(unsupported_kinds(mentions)) for mentions in found.candidates])
    first, scores = case.order[0], np.array(case.scores)
    can_win = ~np.isnan(scores)
    bad = wrong & can_win
    if wrong[first] or not 0 < 2 * bad.sum() < can_win.sum():
        return False, False, 0.0
    own = bool(unsupported_kinds(found.summaries.get(baseline, [])))
    return True, own, float(scores[first] - scores[bad].mean())
