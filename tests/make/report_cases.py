"""Documents with candidates, as the report reads them."""

import numpy as np

from brido.tables.documents import CandidateDocument
from brido.vote.consensus import ranking


def made_case(scores, **fields) -> CandidateDocument:
    """A document whose candidates have these scores; whoever has NaN cannot be elected."""
    count = len(scores)
    scores = np.array(scores, float)
    texts, flags = [""] * count, [True] * count
    values = {
        "id": "x", "document": "", "references": [], "facts": None, "summaries": {},
        "candidates": texts, "raw": texts, "ended": flags, "sources": ["base"] * count,
        "voters": flags, "eligible": (~np.isnan(scores)).tolist(),
        "similarity": np.zeros((count, count + 1), np.float32), "scores": scores.tolist(),
        "order": ranking(scores[None])[0].tolist(),
    }  # fmt: skip
    return CandidateDocument(**(values | fields))
