"""Exact ROUGE of all pairs of texts at the speed of vector code."""

from brido.rouge.pairwise import rouge_matrix, similarity_batch, similarity_matrix

__all__ = ["rouge_matrix", "similarity_batch", "similarity_matrix"]
