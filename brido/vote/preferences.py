"""Scored documents as pairs of candidates."""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from brido.tables.documents import CandidateDocument
from brido.utils.rows import is_blank


def pairs(
    item: CandidateDocument, everything: bool, left_out: Counter[str]
) -> Iterator[tuple[int, int]]:
    """Yield (rank, rank) of the better and the worse candidate of each pair; 0 is the best.

    Every pair, or the best candidate against the worst; their scores differ. Left out, and counted
    in `left_out`, are empty texts, candidates without a score (they could not be elected), and
    pairs of equal texts.
    """
    texts = [item.candidates[place] for place in item.order]
    ranks = []
    for rank, place in enumerate(item.order):
        if is_blank(texts[rank]):
            left_out["empty candidates"] += 1
        elif math.isnan(item.scores[place]):
            left_out["candidates that could not be elected"] += 1
        else:
            ranks.append(rank)
    wanted = list(combinations(ranks, 2)) if everything else [(ranks[0], n) for n in ranks[-1:]]
    for better, worse in wanted:
        if item.scores[item.order[better]] == item.scores[item.order[worse]]:
            continue
        if texts[better].split() == texts[worse].split():
            left_out["pairs of equal texts"] += 1
        else:
            yield better, worse
