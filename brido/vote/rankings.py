"""The orders of a document's candidates that the check compares, and what each knows by itself.

Arrays [D, N]: D documents of N candidates each.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.vote.consensus import eligible_scores
from brido.vote.signals import combined, information, shuffled_scores

Arrays = Mapping[str, NDArray[Any]]
LABELS = {
    "vote": "this vote",
    "consensus": "consensus (α = 0)",
    "information": "information",
    "both": "consensus and base's log p",
    "half": "consensus and reference (α = N-1)",
    "reference": "the reference (α = ∞)",
    "log_probability": "base's log p, sum",
    "mean_log_probability": "base's log p, mean",
    "shorter": "the shorter",
    "support": "the support check",
    "shuffled": "shuffled (the control)",
}
LIKELIHOODS = ("log_probability", "mean_log_probability")
# The share of log p in `both`.
BOTH = 0.5
# The orders that a run may train on instead of its own, without references, and their settings.
TRAINABLE: dict[str, dict[str, float]] = {
    "consensus": {"alpha": 0, "information": 0, "support": 0},
    "both": {"alpha": 0, "information": BOTH, "prior_weight": 0, "support": 0},
    "support": {"support": 1, "information": 0},
}


def rankings(
    found: Arrays, prior: float, length_penalty: float = 0.0
) -> dict[str, NDArray[np.float64]]:
    """Return the scores [D, N] that are compared, by their names in LABELS; see `check_votes`.

    prior: the share of the prior that information takes away; length_penalty: the exponent of the
    length that `information` and `both` are divided by. A candidate that cannot be elected has NaN.
    """
    eligible = ~np.isnan(found["scores"])
    similarity = found["similarity"]

    def vote(alpha: float) -> NDArray[np.float64]:
        return eligible_scores(similarity, alpha, "equation", found["voters"], eligible)

    def added(others: NDArray[Any], weight: float) -> NDArray[np.float64]:
        own, tokens = found["log_probability"], found.get("tokens")
        return information(own, others, weight, tokens, length_penalty)

    consensus = vote(0)
    scores = {"vote": found["scores"], "consensus": consensus}
    if "log_probability" in found and "prior" in found:
        scores["information"] = added(found["prior"], prior)
    scores |= {"half": vote(similarity.shape[1] - 1), "reference": vote(math.inf)}
    if "log_probability" in found:
        scores["both"] = combined(consensus, [(BOTH, added(found["log_probability"], 0))])
        scores["log_probability"] = found["log_probability"]
    if "log_probability" in found and "tokens" in found:
        scores["mean_log_probability"] = found["log_probability"] / np.maximum(found["tokens"], 1)
    scores["shorter"] = -found["words"].astype(np.float64)
    if "support" in found:
        scores["support"] = found["support"]
    names = found["ids"] if "ids" in found else np.arange(len(eligible))
    scores["shuffled"] = shuffled_scores(consensus, [str(name) for name in names])
    known = {name: np.where(eligible, values, np.nan) for name, values in scores.items()}
    return {name: values for name, values in known.items() if not np.isnan(values).all()}


def setting(name: str, scoring: Mapping[str, Any], prior: float) -> str:
    """What `dvc exp run -S` takes to train on the order `name`: only what a run has not set yet.

    scoring: the settings of the run, section `scoring`. prior: see `rankings`.
    """
    wanted = TRAINABLE.get(name) or {"information": 1, "prior_weight": prior, "support": 0}
    changed = {key: value for key, value in wanted.items() if scoring.get(key) != value}
    named = (f"scoring.{key}={value:g}" for key, value in (changed or wanted).items())
    return " -S ".join(named)


def without(
    scores: NDArray[np.floating], others: Sequence[NDArray[np.floating]]
) -> NDArray[np.float64]:
    """What is left of the scores' ranks when those of `others` are taken out; all [D, N].

    Ranks within each document (ties share theirs), from -1/2 to 1/2; one least-squares regression
    of them on the others' ranks over all documents; its residuals. A candidate with a NaN among
    its scores stays NaN.
    """
    known = ~np.isnan([scores, *others]).any(0)
    ranks = [_ranks(np.where(known, values, np.nan)) for values in (scores, *others)]
    wanted, *columns = (values[known] for values in ranks)
    left = np.full(np.shape(scores), np.nan)
    predictors = np.stack(columns, axis=1)
    weights, *_ = np.linalg.lstsq(predictors, wanted, rcond=None)
    left[known] = wanted - predictors @ weights
    # What differs by rounding alone has one rank.
    return np.round(left, 9)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centred ranks within each row, divided by the number of values; NaN stays."""
    own, other = values[:, :, None], values[:, None, :]
    below, equal = (other < own).sum(-1), (other == own).sum(-1)
    count = (~np.isnan(values)).sum(1, keepdims=True)
    ranks = (below + (equal - 1) / 2 - (count - 1) / 2) / np.maximum(count, 1)
    return np.where(np.isnan(values), np.nan, ranks)
