"""The idea: candidates of a document score each other, and the order of the scores is learned."""

from brido.vote.consensus import consensus_scores, ranking

__all__ = ["consensus_scores", "ranking"]
