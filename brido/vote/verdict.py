"""The check of a vote: from arrays to the content of metrics/votes.json."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.stats import FEWEST, percentiles
from brido.vote.check import (
    Election,
    Share,
    accuracies,
    accuracy_by_gap,
    comparable_pairs,
    election,
    pair_counts,
)
from brido.vote.consensus import eligible_scores, ranking
from brido.vote.verdict_text import verdict_lines

Arrays = Mapping[str, NDArray[Any]]

SAMPLES, CONFIDENCE, SEED = 1000, 0.95, 0
DECIMALS = 6
# Texts of equal length differ by at most this share of the longer one; those of the world, where a
# word more is a fact more, by nothing.
TOLERANCE = 0.15
# Elected texts shorter than base's by more than this share: a gain may come from length only.
SHORTER = 0.1
LABELS = {
    "vote": "this vote",
    "consensus": "consensus (α = 0)",
    "half": "half the reference's (α = N-1)",
    "reference": "the reference (α = ∞)",
    "log_probability": "base's log p, sum",
    "mean_log_probability": "base's log p, mean",
    "shorter": "the shorter",
    "support": "the support check",
}
LIKELIHOODS = ("log_probability", "mean_log_probability")


@dataclass(frozen=True)
class Judged:
    """How the check was made.

    judge: who counted what is unsupported. tolerance: how much longer a text of "equal length" may
    be. shuffled: whether the scores are the control's. warnings: why the candidates are not a basis
    for a verdict. pipeline: whether the documents are a run's, not lines of a file.
    """

    judge: str
    tolerance: float
    shuffled: bool = False
    warnings: Sequence[str] = ()
    pipeline: bool = True


def rankings(found: Arrays) -> dict[str, NDArray[np.float64]]:
    """The scores [D, N] that are compared, by their names in LABELS; see `check_votes`."""
    eligible = ~np.isnan(found["scores"])
    similarity = found["similarity"]

    def vote(alpha: float) -> NDArray[np.float64]:
        return eligible_scores(similarity, alpha, "equation", found["voters"], eligible)

    scores = {
        "vote": found["scores"],
        "consensus": vote(0),
        "half": vote(similarity.shape[1] - 1),
        "reference": vote(math.inf),
    }
    if "log_probability" in found and "tokens" in found:
        scores["log_probability"] = found["log_probability"]
        scores["mean_log_probability"] = found["log_probability"] / np.maximum(found["tokens"], 1)
    scores["shorter"] = -found["words"].astype(np.float64)
    if "support" in found:
        scores["support"] = found["support"]
    known = {name: np.where(eligible, values, np.nan) for name, values in scores.items()}
    return {name: values for name, values in known.items() if not np.isnan(values).all()}


def check_votes(found: Arrays, how: Judged) -> dict[str, Any]:
    """The content of metrics/votes.json.

    found: arrays [D, N] by name. scores: the run's vote, NaN for a candidate that cannot be
    elected. voters: who votes. similarity [D, N, N + 1] as `consensus_scores` takes it, its last
    column NaN if a document has no reference. unsupported, words: counts. Optional:
    log_probability and tokens by the model that is to be tuned; support (0 to 1) by a checker other
    than the judge that counted `unsupported`; own_unsupported and own_words [D, 1] of what the
    model writes by itself.
    """
    compared = rankings(found)
    wrong = np.where(np.isnan(found["scores"]), np.nan, found["unsupported"])
    pairs = comparable_pairs(wrong, found["words"], how.tolerance)
    counts = np.stack([pair_counts(scores, pairs) for scores in compared.values()])
    shares, draws = accuracies(counts, SAMPLES, CONFIDENCE, SEED)
    every = np.arange(len(found["scores"]))
    table = {}
    for (name, scores), share in zip(compared.items(), shares, strict=True):
        gaps = accuracy_by_gap(scores, pairs)
        elected = found["unsupported"][every, ranking(scores)[:, 0]]
        table[name] = {
            "label": LABELS[name],
            **_plain(share, "pairs"),
            "elected_unsupported": round(float((elected > 0).mean()), DECIMALS),
            "by_gap": {str(n): _number(value) for n, (value, _) in enumerate(gaps, 1)},
        }
    told: dict[str, Any] = {
        "judge": how.judge,
        "length_tolerance": how.tolerance,
        "documents": len(every),
        "bootstrap": {"samples": SAMPLES, "confidence": CONFIDENCE, "seed": SEED},
        "warnings": list(how.warnings),
        "knows": {"sentence": _knows(compared, shares, draws)},
    }
    if "own_unsupported" in found:
        first = ranking(found["scores"])[:, 0]
        chosen = found["unsupported"][every, first], found["words"][every, first]
        own = found["own_unsupported"][:, 0], found["own_words"][:, 0]
        result = election(chosen, own, how.tolerance, SAMPLES, CONFIDENCE, SEED)
        told["election"] = _election_json(result, how)
    told["accuracy"] = table
    told["verdict"] = verdict_lines(told, how.pipeline)
    if "election" in told:
        told["election"]["sentence"] = " ".join(told["verdict"][:2])
    return told


def _election_json(result: Election, how: Judged) -> dict[str, Any]:
    """The elected against base's own output: the verdict in a word, its caution, the numbers."""
    verdict = _verdict(result, how)
    caution = _caution(result) if verdict == "beats" else ""
    assert result.equal_length is not None
    told: dict[str, Any] = {"verdict": verdict, "caution": caution}
    for name, one in (("all", result), ("equal_length", result.equal_length)):
        parts = {"elected": one.elected, "base": one.own, "difference": one.difference}
        told[name] = {key: _plain(share, "documents") for key, share in parts.items()}
        if one.elected.count < FEWEST:
            for values in told[name].values():
                values["low"] = values["high"] = None
    return told


def _verdict(result: Election, how: Judged) -> str:
    """The verdict in a word; `verdict_text` says what each means."""
    if result.elected.count < FEWEST:
        return "few"
    if result.elected.mean == result.own.mean == 0:
        return "nothing"
    if how.shuffled:
        return "chance"
    low, high = result.difference.low, result.difference.high
    return "beats" if high < 0 else "loses" if low > 0 else "open"


def _caution(result: Election) -> str:
    """A shorter text has fewer details, unsupported ones too; a length penalty would do as well."""
    elected, own = result.lengths
    if elected >= (1 - SHORTER) * own:
        return ""
    return (
        f"Some or all of the gain may come from length: elected candidates have {elected:.1f} "
        f"words, base's own output {own:.1f}. Compare tuned and base at one length "
        "(decoding.length_penalty)."
    )


def _knows(compared: Mapping[str, Any], shares: list[Share], draws: NDArray[np.float64]) -> str:
    """Whether the vote orders candidates better than the likelihood and the reference do."""
    found = dict(zip(compared, shares, strict=True))
    vote, names = found["vote"], list(found)
    if not vote.count:
        return (
            "No two candidates of a document are equally long and differ in what is unsupported: "
            "nothing can be said of the order that the vote gives them."
        )
    rivals = {}
    likelihoods = [name for name in LIKELIHOODS if name in found]
    if likelihoods:
        rivals[max(likelihoods, key=lambda name: found[name].mean)] = "base's likelihood"
    if "reference" in found:
        rivals["reference"] = "the reference"
    verdicts = []
    for name, label in rivals.items():
        gap = draws[:, names.index("vote")] - draws[:, names.index(name)]
        (low,), (high,) = percentiles(gap[:, None], CONFIDENCE)
        amount = "better" if low > 0 else "worse" if high < 0 else "not measurably better"
        verdicts.append(f"{amount} than {label} ({found[name].mean:.3f})")
    told = (
        f"Of two equally long candidates the vote puts the better one first in {vote.mean:.3f} of "
        f"{vote.count:,} pairs (a random order: .5)"
    )
    return f"{told}: {' and '.join(verdicts)}." if verdicts else f"{told}."


def _plain(share: Share, counted: str) -> dict[str, float | int | None]:
    values = asdict(share)
    count = values.pop("count")
    return {name: _number(value) for name, value in values.items()} | {counted: count}


def _number(value: float) -> float | None:
    return round(value, DECIMALS) if math.isfinite(value) else None
