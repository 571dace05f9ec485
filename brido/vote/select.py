"""The run's vote: from a split's tables to the scores of its candidates, batch by batch.

This is the only reader of section `scoring`; `consensus` and `signals` know arrays only.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brido.tables.join import Documents, SplitTables, read_documents
from brido.tables.read import read_metadata
from brido.utils.errors import BridoError, quoted
from brido.vote.consensus import eligible_scores
from brido.vote.settings import ScoringSettings
from brido.vote.signals import combined, dealt, information, shuffled_scores

# Of each part of the order (`ScoringSettings.shares`) its values [documents, N].
Signals = dict[str, NDArray[np.float64]]


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

    alpha: takes the place of `scoring.alpha`. columns: what else to read of the documents.
    All names of columns stand in COLUMNS of brido/tables/join.py.

    Raises:
        BridoError: a table is missing or damaged or was computed from other candidates, a
            similarity is not a number, or alpha asks for references that do not exist.
    """
    if alpha is not None:
        scoring = scoring.model_copy(update={"alpha": alpha})
    table = tables.likelihood
    if scoring.asks_prior and table and not read_metadata(table, "likelihood").get("others"):
        raise BridoError(
            f"{table} lacks likelihoods with other documents, which "
            "scoring.information needs: set likelihood.others, then `dvc repro likelihood`"
        )
    needed = ["voters", "eligible", "similarity", *_columns(scoring)]
    for documents in read_documents(tables, list(dict.fromkeys([*needed, *columns]))):
        scores = _vote(documents, tables, scoring)
        # The control and the signals change who gets which score, never the scores themselves: of
        # each document the highest goes to the candidate that is first in the other order.
        if scoring.shuffle:
            scores = shuffled_scores(scores, documents.ids)
        elif set(scoring.shares) != {"vote"}:
            signals = _signals(documents, scores, scoring)
            vote = signals.pop("vote", scores)
            others = [(scoring.shares[name], values) for name, values in signals.items()]
            scores = dealt(scores, by=combined(vote, others))
        yield Scored(documents, scores)


def _columns(scoring: ScoringSettings) -> list[str]:
    """The columns that the signals are computed from."""
    names = ["support"] if scoring.asks_support else []
    if scoring.asks_likelihood:
        names += ["log_probability", "tokens", *(["prior"] if scoring.asks_prior else [])]
    return names


def _vote(
    documents: Documents, tables: SplitTables, scoring: ScoringSettings
) -> NDArray[np.float64]:
    """Eq. 2 [documents, N]."""
    similarity = documents.array("similarity")
    # With the reference all N are NaN where there is none.
    unlabelled = np.isnan(similarity[:, :, -1]).all(1)
    if scoring.alpha and (name := _first(documents, unlabelled)):
        raise BridoError(
            f"scoring.alpha: {scoring.alpha:g} gives the reference a weight, but id {name} has no "
            "reference: set scoring.alpha to 0"
        )
    finite = np.isfinite(similarity)
    known = finite[:, :, :-1].all((1, 2)) & (unlabelled | finite[:, :, -1].all(1))
    if name := _first(documents, ~known):
        raise BridoError(
            f"{tables.similarity}: the row of id {name} contains NaN or infinity: make it again "
            "with `dvc repro -sf pairwise`"
        )
    voters, eligible = documents.array("voters"), documents.array("eligible")
    return eligible_scores(similarity, scoring.alpha, scoring.normalization, voters, eligible)


def _first(documents: Documents, where: Any) -> str:
    """The id of the first document at which `where` [D] is true, quoted; "" if there is none."""
    return quoted(documents.ids[int(where.argmax())]) if where.any() else ""


def _signals(
    documents: Documents, scores: NDArray[np.float64], scoring: ScoringSettings
) -> Signals:
    """Each part of the order that has a weight, NaN where the vote's scores are."""
    signals = {"vote": scores}
    if "support" in scoring.shares:
        signals["support"] = documents.array("support")
    if "information" in scoring.shares:
        own, tokens = documents.array("log_probability"), documents.array("tokens")
        others = documents.array("prior") if scoring.asks_prior else np.zeros_like(own)
        values = information(own, others, scoring.prior_weight, tokens, scoring.length_penalty)
        if name := _first(documents, ~np.isfinite(values).all(1)):
            raise BridoError(
                f"the log-probabilities of id {name} contain NaN or infinity: make them again with "
                "`dvc repro -sf likelihood`"
            )
        signals["information"] = values
    return {name: np.where(np.isnan(scores), np.nan, signals[name]) for name in scoring.shares}
