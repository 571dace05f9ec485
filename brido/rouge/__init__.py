"""Exact ROUGE of all pairs of texts at the speed of compiled loops."""

from brido.rouge.pairwise import rouge_matrix, similarity_batch, similarity_matrix

__all__ = ["rouge_matrix", "similarity_batch", "similarity_matrix"]
