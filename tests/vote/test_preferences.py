"""Pairs of scored candidates, and the lines that hold them."""

from collections import Counter
from dataclasses import replace

from brido.tables.documents import CandidateDocument
from brido.vote.preferences import pairs


def ranked(size, **changes):
    """A document whose candidates fall from 0 by 1, best first."""
    texts = [f"text {place}" for place in range(size)]
    document = CandidateDocument("x", "d", None, texts, [-float(n) for n in range(size)])
    return replace(document, order=list(range(size)), **changes)


def test_the_best_is_paired_with_the_worst_or_all_with_all():
    assert list(pairs(ranked(4), False, 0.0, Counter())) == [(0, 3)]
    found = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert list(pairs(ranked(4), True, 0.0, Counter())) == found
