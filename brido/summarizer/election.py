"""Minimum Bayes risk at use: a document's candidates vote, and the elected one is its summary."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from brido.rouge import similarity_matrix
from brido.text.words import seeing_tokenizer
from brido.utils.rows import is_blank
from brido.vote.consensus import eligible_scores, ranking


def elect(
    texts: Sequence[Sequence[str]], ended: Sequence[Sequence[bool]]
) -> list[tuple[int, float]]:
    """The place of each document's elected candidate, and its agreement with the others."""
    if not texts:
        return []
    scores = agreements(texts, ended)
    first = ranking(scores)[:, 0]
    return [(int(place), float(scores[row, place])) for row, place in enumerate(first)]


def agreements(
    texts: Sequence[Sequence[str]], ended: Sequence[Sequence[bool]]
) -> NDArray[np.float64]:
    """How much the other candidates agree with each, [D, N]; NaN for one that does not vote.

    texts, ended: N candidates of each document. The agreement is the score of Eq. 2 at alpha 0: the
    mean similarity (harmonic mean of ROUGE-1 and 2) with the other candidates that vote. Texts in
    another script than ROUGE's own words know are compared by the words of any. As in the
    pipeline a candidate that is empty or did not end does not vote; where fewer than two remain,
    all of them do.
    """
    similarity = np.stack(
        [
            similarity_matrix(row, "", "harmonic_r1_r2", tokenizer=seeing_tokenizer(row))
            for row in texts
        ]
    )
    voters = np.array(
        [
            [own and not is_blank(text) for text, own in zip(row, flags, strict=True)]
            for row, flags in zip(texts, ended, strict=True)
        ]
    )
    voters[voters.sum(1) < 2] = True
    return eligible_scores(similarity, 0.0, "equation", voters, voters)
