"""The check of the orders before training: from arrays to the content of metrics/votes.json."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.stats import FEWEST
from brido.utils.stored import DECIMALS, json_number
from brido.vote.check import (
    Share,
    accuracies,
    comparable_pairs,
    compared_shares,
    pair_counts,
)
from brido.vote.consensus import ranking
from brido.vote.rankings import LABELS, PRIOR_WEIGHT, Arrays, fixed_orders, left_of, preferences
from brido.vote.votes_text import election_sentence, votes_lines

SAMPLES, CONFIDENCE, SEED = 1000, 0.95, 0
# Texts of equal length differ by at most this share of the longer one; those of the world, where a
# word more is a fact more, by nothing.
TOLERANCE = 0.15


@dataclass(frozen=True)
class CheckSettings:
    """How the check was made.

    judge: who counted what is unsupported. tolerance: how much longer a text of "equal length" may
    be. warnings: why the candidates are unfit for a check. rules: how it was told whether a text is
    whole; "" for the world's grammar. other_writers: sources whose candidates base scored but did
    not write. equal: for the name of an order, the names of others that score alike.
    """

    judge: str
    tolerance: float
    warnings: Sequence[str] = ()
    rules: str = ""
    other_writers: Sequence[str] = ()
    equal: Mapping[str, Sequence[str]] = field(default_factory=dict)


def check_votes(
    arrays: Arrays, orders: Mapping[str, NDArray[np.float64]], settings: CheckSettings
) -> dict[str, Any]:
    """The content of metrics/votes.json.

    arrays [D, N] by name: voters (who votes), unsupported and words (counts), and similarity
    [D, N, N + 1] as `consensus_scores` takes it, its last column NaN if a document has no
    reference. Optional: log_probability and tokens by the model that is to be tuned, and prior, the
    mean of the first with other documents; whole: whether it is a whole text; copied: how much of
    it stands in the document (0 to 1); support (0 to 1) by a checker other than the judge that
    counted `unsupported`; own_unsupported and own_whole [D, 1] of what the model writes by itself;
    ids [D] of the documents.

    orders: the scores [D, N] of each order, NaN for a candidate that cannot be elected. The
    candidates that the first one elects are compared with base's own output.
    """
    first, *_ = orders
    fixed = {
        name: scores
        for name, scores in fixed_orders(arrays, orders[first]).items()
        if not any(np.array_equal(scores, own, equal_nan=True) for own in orders.values())
    }
    taken_out = preferences(arrays)
    rows = iter(_rows(arrays, [*orders.values(), *fixed.values()], taken_out, settings.tolerance))
    check: dict[str, Any] = {
        "judge": settings.judge,
        "length_tolerance": settings.tolerance,
        "documents": len(arrays["unsupported"]),
        "bootstrap": {"samples": SAMPLES, "confidence": CONFIDENCE, "seed": SEED},
        "warnings": list(settings.warnings),
        "rules": settings.rules,
        "other_writers": list(settings.other_writers),
        "prior_weight": PRIOR_WEIGHT,
        "taken_out": list(taken_out),
        "orders": {},
        "fixed": {},
    }
    for name in orders:
        names = [name, *settings.equal.get(name, ())]
        check["orders"][name] = {"label": ", ".join(names), "names": names} | next(rows)
    for name in fixed:
        # Nothing is left of what was taken out.
        nothing = {"left": None} if name in {*taken_out, "shorter"} else {}
        check["fixed"][name] = {"label": LABELS[name]} | next(rows) | nothing
    if "own_unsupported" in arrays:
        check["election"] = _election(arrays, first, orders[first])
    check["lines"] = votes_lines(check)
    return check


def _rows(
    arrays: Arrays,
    orders: Sequence[NDArray[np.float64]],
    taken_out: Arrays,
    tolerance: float,
) -> list[dict[str, Any]]:
    """Of each order its accuracy, the accuracy of what is left of it, and whom it elects."""
    wrong = np.where(np.isnan(orders[0]), np.nan, arrays["unsupported"])
    pairs = comparable_pairs(wrong, arrays["words"], tolerance)
    left = [left_of(scores, taken_out) for scores in orders]
    right = np.stack([pair_counts(scores, pairs) for scores in (*orders, *left)])
    shares = [_plain(share, "pairs") for share in accuracies(right, SAMPLES, CONFIDENCE, SEED)]
    good = _good(arrays)
    every = np.arange(len(wrong))
    rows = []
    for place, scores in enumerate(orders):
        elected = ranking(scores)[:, 0]
        # An order without scores elects no candidate: a document may lack a reference.
        elects = ~np.isnan(scores).all(1)
        row: dict[str, Any] = shares[place] | {"left": shares[place + len(orders)]}
        row["elected_unsupported"] = _share_of((arrays["unsupported"][every, elected] > 0)[elects])
        if good is not None:
            row["elected_good"] = _share_of(good[every, elected][elects])
        rows.append(row)
    return rows


def _good(arrays: Arrays, own: str = "") -> NDArray[np.bool_] | None:
    """Which texts are good: whole, and nothing in them unsupported; None if that is not known."""
    if f"{own}whole" not in arrays:
        return None
    return arrays[f"{own}whole"].astype(bool) & (arrays[f"{own}unsupported"] == 0)


def _election(arrays: Arrays, name: str, scores: NDArray[np.float64]) -> dict[str, Any]:
    """The candidates that an order elects against base's own output."""
    every, elected = np.arange(len(scores)), ranking(scores)[:, 0]
    flags = {"unsupported": (arrays["unsupported"] > 0, arrays["own_unsupported"] > 0)}
    good, own_good = _good(arrays), _good(arrays, "own_")
    if good is not None and own_good is not None:
        flags["good"] = (good, own_good)
    election: dict[str, Any] = {"order": name}
    for kind, (candidates, own) in flags.items():
        first, second = candidates[every, elected].astype(float), own[:, 0].astype(float)
        shares = compared_shares(first, second, SAMPLES, CONFIDENCE, SEED)
        election[kind] = {
            who: _plain(share, "documents", few=len(scores) < FEWEST)
            for who, share in zip(("elected", "base", "difference"), shares, strict=True)
        }
    return election | {"sentence": election_sentence(election)}


def _share_of(flags: NDArray[np.bool_]) -> float:
    return round(float(flags.mean()), DECIMALS)


def _plain(share: Share, counted: str, few: bool = False) -> dict[str, float | int | None]:
    """A share for JSON; counted: what its count is of; few documents have no interval."""
    values = asdict(share)
    count = values.pop("count")
    if few:
        values |= {"low": math.nan, "high": math.nan}
    return {name: json_number(value) for name, value in values.items()} | {counted: count}
