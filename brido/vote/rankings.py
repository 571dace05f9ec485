"""What the check compares orders with, and what is left of an order once it is taken out.

Arrays [D, N]: D documents of N candidates each.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.vote.consensus import eligible_scores
from brido.vote.signals import information, left_over, shuffled_scores

Arrays = Mapping[str, NDArray[Any]]
LABELS = {
    "consensus": "consensus (α = 0)",
    "half": "half the reference (α = N-1)",
    "reference": "the reference (α = ∞)",
    "support": "the support check",
    "information": "information alone",
    "mean_log_probability": "base's log p a token",
    "log_probability": "base's log p",
    "copied": "copying",
    "shorter": "the shorter",
    "shuffled": "shuffled",
}
# The share of the log p with other documents that the row `information` takes away.
PRIOR_WEIGHT = 0.2


def fixed_orders(arrays: Arrays, scores: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The scores [D, N] that stand beside the orders of a run, by their names in LABELS.

    arrays: see `brido.vote.votes.check_votes`. scores: of the first order, NaN for a candidate that
    cannot be elected, which has NaN here too. What no array is there for is left out.
    """
    eligible = ~np.isnan(scores)

    def vote(alpha: float) -> NDArray[np.float64]:
        return eligible_scores(arrays["similarity"], alpha, "equation", arrays["voters"], eligible)

    found = {"consensus": vote(0)}
    found |= {"half": vote(scores.shape[1] - 1), "reference": vote(math.inf)}
    if "support" in arrays:
        found["support"] = arrays["support"]
    if "log_probability" in arrays and "prior" in arrays:
        found["information"] = information(arrays["log_probability"], arrays["prior"], PRIOR_WEIGHT)
    found |= {name: values for name, values in preferences(arrays).items() if name != "length"}
    found["shorter"] = -arrays["words"].astype(np.float64)
    names = arrays["ids"] if "ids" in arrays else np.arange(len(scores))
    found["shuffled"] = shuffled_scores(scores, [str(name) for name in names])
    known = {name: np.where(eligible, found[name], np.nan) for name in LABELS if name in found}
    return {name: values for name, values in known.items() if not np.isnan(values).all()}


def preferences(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """What an order may owe to copying, to base's own preference, and to length."""
    found = {name: arrays[name] for name in ("copied", "log_probability") if name in arrays}
    if "log_probability" in arrays and "tokens" in arrays:
        tokens = np.maximum(arrays["tokens"], 1)
        found["mean_log_probability"] = arrays["log_probability"] / tokens
    return found | {"length": arrays["tokens" if "tokens" in arrays else "words"]}


def left_of(
    scores: NDArray[np.float64], taken_out: Mapping[str, NDArray[Any]]
) -> NDArray[np.float64]:
    """What is left of an order [D, N] once other values are taken out: residuals of its ranks.

    Ranks within each document (ties share theirs) stand for all values, so that only their order
    counts; then `brido.vote.signals.left_over`. A candidate with a NaN stays NaN.
    """
    known = ~np.isnan([scores, *taken_out.values()]).any(0)
    ranks, *others = (
        within_ranks(np.where(known, values, np.nan)) for values in (scores, *taken_out.values())
    )
    return left_over(ranks, others)


def within_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks within each document [D, N], from 0 to 1: the share of candidates below; NaN stays.

    Equal values share the mean of their ranks.
    """
    own, other = values[:, :, None], values[:, None, :]
    below, equal = (other < own).sum(-1), (other == own).sum(-1)
    count = np.maximum((~np.isnan(values)).sum(1, keepdims=True), 1)
    return np.where(np.isnan(values), np.nan, (below + equal / 2) / count)
