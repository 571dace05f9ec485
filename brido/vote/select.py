"""The run's vote: from a split's tables to the scores of its candidates, batch by batch.

This is the only reader of section `scoring`; `consensus` and `signals` know arrays only.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brido.tables.checks import check_likelihood, check_prior, check_similarity
from brido.tables.join import Documents, SplitTables, read_documents
from brido.vote.consensus import eligible_scores
from brido.vote.settings import ScoringSettings
from brido.vote.signals import Signal, combined, dealt, information, shuffled_scores


class Scored(NamedTuple):
    """Some documents, and the scores of their candidates [documents, N]; NaN: not to be elected."""

    documents: Documents
    scores: NDArray[np.float64]


def score_documents(
    tables: SplitTables,
    scoring: ScoringSettings,
    alpha: float | None = None,
    columns: Sequence[str] = (),
) -> Iterator[Scored]:
    """Score the candidates of a split, in the tables' order; constant memory.

    alpha: takes the place of `scoring.alpha`. columns: what else to read of the documents. All
    names of columns stand in COLUMNS of brido/tables/join.py.

    Raises:
        BridoError: a table is missing or damaged or was computed from other candidates, a
            similarity is not a number, or alpha asks for references that do not exist.
    """
    alpha = scoring.alpha if alpha is None else alpha
    of_signals = [] if scoring.shuffle else _columns(scoring)
    if "prior" in of_signals:
        check_prior(tables.likelihood)
    wanted = dict.fromkeys(["voters", "eligible", "similarity", *columns, *of_signals])
    for documents in read_documents(tables, list(wanted)):
        similarity = documents.array("similarity")
        check_similarity(tables.similarity, documents.ids, similarity, alpha)
        voters, eligible = documents.array("voters"), documents.array("eligible")
        scores = eligible_scores(similarity, alpha, scoring.normalization, voters, eligible)
        # The control and the signals change who gets which score, never the scores themselves: of
        # each document the highest goes to the candidate that is first in the other order.
        if scoring.shuffle:
            scores = shuffled_scores(scores, documents.ids)
        elif of_signals:
            scores = dealt(scores, by=combined(scores, _signals(documents, scoring)))
        yield Scored(documents, scores)


def _columns(scoring: ScoringSettings) -> list[str]:
    """The columns that the signals are computed from."""
    found = ["support"] if scoring.support else []
    if scoring.information:
        found += ["log_probability", "tokens", *(["prior"] if scoring.prior_weight else [])]
    return found


def _signals(documents: Documents, scoring: ScoringSettings) -> list[Signal]:
    """Each signal's share in the order, and its values [documents, N]."""
    found = []
    if scoring.support:
        found.append((scoring.support, documents.array("support")))
    if scoring.information:
        own, tokens = documents.array("log_probability"), documents.array("tokens")
        others = documents.array("prior") if scoring.prior_weight else np.zeros_like(own)
        values = information(own, others, scoring.prior_weight, tokens, scoring.length_penalty)
        check_likelihood(documents.ids, values)
        found.append((scoring.information, values))
    return found
