"""The document that the page opens on: one that shows a minority voted out."""

from collections.abc import Sequence

import numpy as np

from brido.report.mention_finder import CaseMentions
from brido.report.validation import Case
from brido.report.votes import Mention, case_scores
from brido.vote.consensus import ranking


def opening(
    cases: Sequence[Case], found: Sequence[CaseMentions], baseline: str, alpha: float
) -> int:
    """The place in `cases` of the document that shows the idea; `found` are its mentions, aligned.

    A document shows it where the elected candidate is supported, while some candidates that can be
    elected, but fewer than half of them, are not. Those come first in which the summary by the
    system `baseline` is not supported either; of these the one whose elected candidate has most
    more score than the unsupported ones have on average. Where no document shows it, the first.
    """
    shown = [
        (_shows(case, mentions, baseline, alpha), -place)
        for place, (case, mentions) in enumerate(zip(cases, found, strict=True))
    ]
    return -max(shown)[1]


def _shows(
    case: Case, found: CaseMentions, baseline: str, alpha: float
) -> tuple[bool, bool, float]:
    """How well a document shows the idea, more is better; begins with False where it does not."""
    scores = case_scores(case, alpha)
    wrong = np.array([_unsupported(mentions) for mentions in found.candidates])
    first, can_win = int(ranking(scores[None])[0, 0]), ~np.isnan(scores)
    bad = wrong & can_win
    if wrong[first] or not 0 < 2 * bad.sum() < can_win.sum():
        return False, False, 0.0
    own = _unsupported(found.summaries.get(baseline, []))
    return True, own, float(scores[first] - scores[bad].mean())


def _unsupported(mentions: Sequence[Mention]) -> bool:
    return any(not mention.supported for mention in mentions)
