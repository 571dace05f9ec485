"""Eq. 2: from the similarity of all pairs to a score for every candidate and their order."""

from brido.consensus.chance import dealt_scores
from brido.consensus.equation import consensus_scores, eligible_scores, ranking
from brido.consensus.weighted import (
    eligible_probability_scores,
    first_of_each_text,
    probability_scores,
    supported_scores,
)

__all__ = [
    "consensus_scores",
    "dealt_scores",
    "eligible_probability_scores",
    "eligible_scores",
    "first_of_each_text",
    "probability_scores",
    "ranking",
    "supported_scores",
]
