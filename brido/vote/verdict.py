"""The check of a vote: from arrays to the content of metrics/votes.json."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.stats import FEWEST
from brido.vote.check import (
    CandidatePairs,
    Share,
    accuracies,
    comparable_pairs,
    compared_shares,
    equally_long,
    pair_counts,
)
from brido.vote.consensus import ranking
from brido.vote.rankings import (
    LABELS,
    LIKELIHOODS,
    TRAINABLE,
    Arrays,
    rankings,
    setting,
    without,
)
from brido.vote.verdict_lines import verdict_lines

SAMPLES, CONFIDENCE, SEED = 1000, 0.95, 0
DECIMALS = 6
# Texts of equal length differ by at most this share of the longer one; those of the world, where a
# word more is a fact more, by nothing.
TOLERANCE = 0.15
# The share of the prior that information takes away, where a run takes none away.
PRIOR = 0.1
# Elected texts shorter than base's by more than this share: a gain may come from length only.
SHORTER = 0.1


@dataclass(frozen=True)
class Judged:
    """How the check was made.

    judge: who counted what is unsupported. tolerance: how much longer a text of "equal length" may
    be. shuffled: whether the scores are the control's. warnings: why the candidates are not a basis
    for a verdict. pipeline: whether the documents are a run's, not lines of a file. prior and
    length_penalty: how information is made, see section `scoring`. rules: how it was told whether a
    text is whole; "" for the world's grammar. other_writers: sources whose candidates base scored
    but did not write. scoring: the settings that made the scores; empty where no run did.
    """

    judge: str
    tolerance: float
    shuffled: bool = False
    warnings: Sequence[str] = ()
    pipeline: bool = True
    prior: float = PRIOR
    length_penalty: float = 0.0
    rules: str = ""
    other_writers: Sequence[str] = field(default_factory=tuple)
    scoring: Mapping[str, Any] = field(default_factory=dict)


def check_votes(found: Arrays, how: Judged) -> dict[str, Any]:
    """The content of metrics/votes.json.

    found: arrays [D, N] by name. scores: the run's vote, NaN for a candidate that cannot be
    elected. voters: who votes. similarity [D, N, N + 1] as `consensus_scores` takes it, its last
    column NaN if a document has no reference. unsupported, words: counts. Optional:
    log_probability and tokens by the model that is to be tuned, and prior, the mean of the first
    with other documents; whole: whether it is a whole text; copied: how much of it stands in the
    document (0 to 1); support (0 to 1) by a checker other than the judge that counted
    `unsupported`; own_unsupported, own_words and own_whole [D, 1] of what the model writes by
    itself; ids [D] of the documents, which decide the control's order.
    """
    compared = rankings(found, how.prior, how.length_penalty)
    wrong = np.where(np.isnan(found["scores"]), np.nan, found["unsupported"])
    pairs = comparable_pairs(wrong, found["words"], how.tolerance)
    counts = np.stack([pair_counts(scores, pairs) for scores in compared.values()])
    shares = accuracies(counts, SAMPLES, CONFIDENCE, SEED)
    told: dict[str, Any] = {
        "judge": how.judge,
        "length_tolerance": how.tolerance,
        "documents": len(wrong),
        "bootstrap": {"samples": SAMPLES, "confidence": CONFIDENCE, "seed": SEED},
        "warnings": list(how.warnings),
        "prior": how.prior,
        "length_penalty": how.length_penalty,
        "rules": how.rules,
        "other_writers": list(how.other_writers),
    }
    if "own_unsupported" in found:
        told["election"] = _against_own(found, how)
    told["accuracy"] = _table(found, compared, shares, pairs)
    told["taken_out"] = list(_taken_out(found, compared))
    if signal := _signal(found, compared, how):
        told["signal"] = signal
    told["verdict"] = verdict_lines(told, how.pipeline)
    if "election" in told:
        told["election"]["sentence"] = " ".join(told["verdict"][:2])
    return told


def _good(found: Arrays, own: str = "") -> NDArray[np.bool_] | None:
    """Which texts are good: whole, and nothing in them unsupported; None if that is not known."""
    if f"{own}whole" not in found:
        return None
    return found[f"{own}whole"].astype(bool) & (found[f"{own}unsupported"] == 0)


def _against_own(found: Arrays, how: Judged) -> dict[str, Any]:
    """The elected candidates against base's own output: the verdict in a word, and the numbers."""
    every, first = np.arange(len(found["scores"])), ranking(found["scores"])[:, 0]
    words, own_words = found["words"][every, first], found["own_words"][:, 0]
    wrong = (found["unsupported"][every, first] > 0).astype(float)
    own_wrong = (found["own_unsupported"][:, 0] > 0).astype(float)
    close = equally_long(words.astype(float), own_words.astype(float), how.tolerance)
    near, own_near = (np.where(close, one, np.nan) for one in (wrong, own_wrong))
    result = compared_shares(wrong, own_wrong, SAMPLES, CONFIDENCE, SEED)
    verdict = _verdict(result, how)
    told: dict[str, Any] = {
        "verdict": verdict,
        "caution": _caution(words.mean(), own_words.mean()) if verdict == "beats" else "",
        "all": _parts(result, "base"),
        "equal_length": _parts(compared_shares(near, own_near, SAMPLES, CONFIDENCE, SEED), "base"),
    }
    good, own_good = _good(found), _good(found, "own_")
    if good is not None and own_good is not None:
        shown = good[every, first].astype(float), own_good[:, 0].astype(float)
        told["good"] = _parts(compared_shares(*shown, SAMPLES, CONFIDENCE, SEED), "base")
    return told


def _table(
    found: Arrays, compared: Arrays, shares: Sequence[Share], pairs: CandidatePairs
) -> dict[str, dict[str, Any]]:
    """A row for each order: accuracy, the same without copying and likelihood, who is elected."""
    every, good = np.arange(len(found["scores"])), _good(found)
    taken = _taken_out(found, compared)
    table = {}
    for (name, scores), share in zip(compared.items(), shares, strict=True):
        first = ranking(scores)[:, 0]
        row: dict[str, Any] = {
            "label": LABELS[name],
            **_plain(share, "pairs"),
            "elected_unsupported": _share_of(found["unsupported"][every, first] > 0),
        }
        if good is not None:
            row["elected_good"] = _share_of(good[every, first])
        if taken:
            row["beyond"] = None
            if name not in LIKELIHOODS:
                counts = pair_counts(without(scores, list(taken.values())), pairs)
                (left,) = accuracies(counts[None], SAMPLES, CONFIDENCE, SEED)
                row["beyond"] = _plain(left, "pairs")
        table[name] = row
    return table


def _taken_out(found: Arrays, compared: Arrays) -> dict[str, NDArray[Any]]:
    """What else orders candidates, by name: how much they copy, and base's likelihoods."""
    others = {"copying": found["copied"]} if "copied" in found else {}
    return others | {name: compared[name] for name in LIKELIHOODS if name in compared}


def _signal(found: Arrays, compared: Arrays, how: Judged) -> dict[str, Any] | None:
    """The order to train on: whose elected candidates are good most often, and this vote's share.

    This vote, unless another's share is higher by more than chance. None where it is not known
    which texts are good, of the control, and of fewer than FEWEST documents.
    """
    good = _good(found)
    if good is None or how.shuffled or len(good) < FEWEST:
        return None
    every = np.arange(len(good))
    elected = {
        name: good[every, ranking(compared[name])[:, 0]].astype(float)
        for name in ("vote", "information", *TRAINABLE)
        if name in compared
    }
    best = max(elected, key=lambda name: elected[name].mean())
    parts = compared_shares(elected[best], elected["vote"], SAMPLES, CONFIDENCE, SEED)
    if parts[2].low > 0:
        how_to = setting(best, how.scoring, how.prior)
        named = {"name": best, "label": LABELS[best], "setting": how_to}
        return named | _parts(parts, "vote")
    return {"name": "vote", "label": LABELS["vote"]}


def _parts(parts: Sequence[Share], other: str) -> dict[str, dict[str, Any]]:
    """The elected, what they are compared with, and the difference; few have no interval."""
    names = ("elected", other, "difference")
    told = {name: _plain(share, "documents") for name, share in zip(names, parts, strict=True)}
    if parts[0].count < FEWEST:
        for values in told.values():
            values["low"] = values["high"] = None
    return told


def _share_of(flags: NDArray[np.bool_]) -> float:
    return round(float(flags.mean()), DECIMALS)


def _verdict(result: Sequence[Share], how: Judged) -> str:
    """The verdict in a word; `verdict_lines` says what each means."""
    elected, own, difference = result
    if elected.count < FEWEST:
        return "few"
    if elected.mean == own.mean == 0:
        return "nothing"
    if how.shuffled:
        return "chance"
    return "beats" if difference.high < 0 else "loses" if difference.low > 0 else "open"


def _caution(words: float, own_words: float) -> str:
    """A shorter text has fewer details, unsupported ones too; a length penalty would do as well."""
    if words >= (1 - SHORTER) * own_words:
        return ""
    return (
        f"Some or all of the gain may come from length: elected candidates have {words:.1f} "
        f"words, base's own output {own_words:.1f}. Compare tuned and base at one length "
        "(decoding.length_penalty)."
    )


def _plain(share: Share, counted: str) -> dict[str, float | int | None]:
    values = asdict(share)
    count = values.pop("count")
    return {name: _number(value) for name, value in values.items()} | {counted: count}


def _number(value: float) -> float | None:
    return round(value, DECIMALS) if math.isfinite(value) else None
