"""Numbers of a split's tables that a vote cannot be computed from, with the way out."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brido.tables.read import read_metadata
from brido.utils.errors import BridoError, quoted


def check_similarity(
    source: Path | None, ids: Sequence[str], similarity: NDArray[np.floating], alpha: float
) -> None:
    """Raise BridoError for a value [D, N, N + 1] that is not a number.

    With the reference all N may be NaN, if there is none and its weight `alpha` is 0.
    """
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
            "make it again with `dvc repro -sf pairwise`"
        )


def check_prior(likelihood: Path | None) -> None:
    """Raise BridoError if a table of likelihoods has none with other documents."""
    assert likelihood is not None
    if not read_metadata(likelihood, "likelihood").get("others"):
        raise BridoError(
            f"{likelihood} lacks likelihoods with other documents, which scoring.information "
            "needs: set likelihood.others, then `dvc repro likelihood`"
        )


def check_likelihood(ids: Sequence[str], values: NDArray[np.floating]) -> None:
    """Raise BridoError for a document whose values [D, N] are not all numbers."""
    finite = np.isfinite(values).all(1)
    if not finite.all():
        raise BridoError(
            f"the log-probabilities of id {quoted(ids[int(finite.argmin())])} contain NaN or "
            "infinity: make them again with `dvc repro -sf likelihood`"
        )
