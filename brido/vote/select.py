"""The run's vote: from a split's tables to the scores of its candidates, batch by batch.

This is the only reader of section `scoring`; `consensus` and `signals` know arrays only.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brido.tables import read_metadata
from brido.tables.join import Documents, SplitTables, read_documents
from brido.utils.errors import BridoError, quoted
from brido.vote.consensus import eligible_scores
from brido.vote.settings import ScoringSettings
from brido.vote.signals import combined, dealt, information, shuffled_scores


class Scored(NamedTuple):
    """Some documents, and the scores of their candidates [documents, N].

    A candidate that cannot be elected has the score NaN.
    """

    documents: Documents
    scores: NDArray[np.float64]


def score_documents(
    tables: SplitTables,
    scoring: ScoringSettings,
    alpha: float | None = None,
    columns: Sequence[str] = (),
) -> Iterator[Scored]:
    """Score the candidates of a split, in the tables' order; constant memory.

    alpha: takes the place of `scoring.alpha`. columns: what else to read of the documents (see
    `brido.tables.join.read_documents`).

    Raises:
        BridoError: a table is missing or damaged or was computed from other candidates, a
            similarity is not a number, or alpha asks for references that do not exist.
    """
    alpha = scoring.alpha if alpha is None else alpha
    signals = [] if scoring.shuffle else _signals(tables, scoring)
    # Names of columns stand in brido/tables/join.py.
    wanted = ["voters", "eligible", "similarity", *columns, *signals]
    for documents in read_documents(tables, list(dict.fromkeys(wanted))):
        similarity = documents.array("similarity")
        _check_numbers(tables.similarity, documents.ids, similarity, alpha)
        flags = (documents.array(name) for name in ("voters", "eligible"))
        scores = eligible_scores(similarity, alpha, scoring.normalization, *flags)
        if scoring.shuffle:
            # One control for all signals: each deals the same scores in another order.
            scores = shuffled_scores(scores, documents.ids)
        elif signals:
            scores = _ordered(scores, documents, scoring)
        yield Scored(documents, scores)


def _signals(tables: SplitTables, scoring: ScoringSettings) -> list[str]:
    wanted = []
    if scoring.support:
        wanted.append("support")
    if scoring.information:
        wanted.append("log_probability")
        if scoring.prior:
            assert tables.likelihood is not None
            if not read_metadata(tables.likelihood, "likelihood").get("others"):
                raise BridoError(
                    f"{tables.likelihood} lacks likelihoods with other documents, which "
                    "scoring.information needs: set likelihood.others, then `dvc repro "
                    "likelihood`"
                )
            wanted.append("prior")
    return wanted


def _ordered(
    scores: NDArray[np.float64], documents: Documents, scoring: ScoringSettings
) -> NDArray[np.float64]:
    """Return the scores, dealt in the order that the weighted signals give the candidates."""
    signals = []
    if scoring.support:
        signals.append((scoring.support, documents.array("support")))
    if scoring.information:
        likelihood = documents.array("log_probability")
        prior = documents.array("prior") if scoring.prior else np.zeros_like(likelihood)
        values = information(likelihood, prior, scoring.prior)
        if not np.isfinite(values).all():
            place = int((~np.isfinite(values).all(1)).argmax())
            raise BridoError(
                f"the log-probabilities of id {quoted(documents.ids[place])} contain NaN or "
                "infinity: make them again with `dvc repro -f likelihood`"
            )
        signals.append((scoring.information, values))
    return dealt(scores, combined(scores, signals))


def is_shuffled(scores: Path) -> bool:
    """Return whether a table of scores is the control's (`scoring.shuffle`)."""
    scoring = read_metadata(scores, "score").get("scoring") or {}
    return bool(scoring.get("shuffle"))


def _check_numbers(
    source: Path | None, ids: Sequence[str], similarity: NDArray[np.floating], alpha: float
) -> None:
    """Raise BridoError for a value that is not a number; with no reference NaN is allowed."""
    unlabelled = np.isnan(similarity[:, :, -1]).all(1)
    if alpha and unlabelled.any():
        raise BridoError(
            f"scoring.alpha: {alpha:g} gives the reference a weight, but id "
            f"{quoted(ids[int(unlabelled.argmax())])} has no reference: set scoring.alpha to 0"
        )
    finite = np.isfinite(similarity)
    bad = ~(finite[:, :, :-1].all((1, 2)) & (unlabelled | finite[:, :, -1].all(1)))
    if bad.any():
        raise BridoError(
            f"{source}: the row of id {quoted(ids[int(bad.argmax())])} contains NaN or infinity: "
            "make it again with `dvc repro -f pairwise`"
        )
