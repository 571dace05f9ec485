"""Rows of the pool's table for tests that are not about the pool."""

from typing import Any


def pooled(name: str, texts: list[str]) -> dict[str, Any]:
    """The row of a document whose candidates are all of one source, vote, and can be elected."""
    size = len(texts)
    row = {"id": name, "candidates": texts, "raw": texts, "sources": ["base"] * size}
    row |= {"search_scores": [-1.0 - place for place in range(size)]}
    return row | {name: [True] * size for name in ("voters", "eligible", "ended")}
