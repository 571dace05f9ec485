"""Batches of items of similar length, so that little is computed for padding."""

from __future__ import annotations

from collections.abc import Sequence


def plan_batches(lengths: Sequence[int], budget: int, rows_a_document: int = 1) -> list[list[int]]:
    """Numbers of the documents of each batch, longest first, every document once.

    A batch holds at most `budget` padded source tokens times rows a document (beams), but at least
    one document. Sorted by length there is little padding, and the batch that needs most memory
    comes first.
    """
    order = sorted(range(len(lengths)), key=lambda number: (-lengths[number], number))
    batches: list[list[int]] = []
    for number in order:
        longest = lengths[batches[-1][0]] if batches else 0
        if batches and (len(batches[-1]) + 1) * longest * rows_a_document <= budget:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
