"""What the run's vote knows, from arrays to the content of metrics/votes.json and two sentences."""

import math
from collections.abc import Mapping
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

SAMPLES, CONFIDENCE, SEED = 1000, 0.95, 0
DECIMALS = 6
# Texts of equal length differ by at most this share of the longer one; those of the world, where a
# word more is a fact more, by nothing.
TOLERANCE = 0.15
# Elected texts shorter than base's by more than this share: a gain may be no more than that.
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
class Candidates:
    """N candidates of D documents and what is known of them, each [D, N].

    scores: the run's vote, NaN for who cannot be elected; voters: who has a vote. similarity
    [D, N, N + 1] as `consensus_scores` takes it; its last column is NaN where a document has no
    reference. unsupported, words: counts. Optional: log_probability and tokens by the model that is
    to be tuned, and support (0 to 1) by a checker other than the judge that counted `unsupported`.
    """

    scores: NDArray[np.float64]
    voters: NDArray[np.bool_]
    similarity: NDArray[np.floating]
    unsupported: NDArray[np.int64]
    words: NDArray[np.int64]
    log_probability: NDArray[np.float64] | None = None
    tokens: NDArray[np.int64] | None = None
    support: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Judged:
    """How the check was made: who judged, how much longer a text of `equal length` may be, what
    the documents are called, and whether their scores are the control's, dealt out at random."""

    judge: str
    tolerance: float
    documents: str = "validation documents"
    chance: bool = False


def rankings(found: Candidates) -> dict[str, NDArray[np.float64]]:
    """The scores [D, N] that are compared, by their names in LABELS."""
    eligible = ~np.isnan(found.scores)

    def vote(alpha: float) -> NDArray[np.float64]:
        return eligible_scores(found.similarity, alpha, "equation", found.voters, eligible)

    scores = {
        "vote": found.scores,
        "consensus": vote(0),
        "half": vote(found.similarity.shape[1] - 1),
        "reference": vote(math.inf),
    }
    if found.log_probability is not None and found.tokens is not None:
        scores["log_probability"] = found.log_probability
        scores["mean_log_probability"] = found.log_probability / np.maximum(found.tokens, 1)
    scores["shorter"] = -found.words.astype(np.float64)
    if found.support is not None:
        scores["support"] = found.support
    known = {name: np.where(eligible, values, np.nan) for name, values in scores.items()}
    return {name: values for name, values in known.items() if not np.isnan(values).all()}


def check_votes(
    found: Candidates, own: tuple[NDArray[np.int64], NDArray[np.int64]] | None, how: Judged
) -> dict[str, Any]:
    """The content of metrics/votes.json.

    own: (unsupported [D], words [D]) of what the model writes by itself, None where nobody knows.
    """
    compared = rankings(found)
    wrong = np.where(np.isnan(found.scores), np.nan, found.unsupported)
    pairs = comparable_pairs(wrong, found.words, how.tolerance)
    counts = np.stack([pair_counts(scores, pairs) for scores in compared.values()])
    shares, draws = accuracies(counts, SAMPLES, CONFIDENCE, SEED)
    every = np.arange(len(found.scores))
    table = {}
    for (name, scores), share in zip(compared.items(), shares, strict=True):
        gaps = accuracy_by_gap(scores, pairs)
        elected = found.unsupported[every, ranking(scores)[:, 0]]
        table[name] = {
            "label": LABELS[name],
            **_plain(share, "pairs"),
            "elected_unsupported": round(float((elected > 0).mean()), DECIMALS),
            "by_gap": {str(n): _number(value) for n, (value, _) in enumerate(gaps, 1)},
        }
    told = {"judge": how.judge, "length_tolerance": how.tolerance, "documents": len(every)}
    told["bootstrap"] = {"samples": SAMPLES, "confidence": CONFIDENCE, "seed": SEED}
    told["knows"] = {"sentence": _knows(compared, shares, draws)}
    if own is not None:
        first = ranking(found.scores)[:, 0]
        chosen = found.unsupported[every, first], found.words[every, first]
        result = election(chosen, own, how.tolerance, SAMPLES, CONFIDENCE, SEED)
        told["election"] = election_json(result, how)
    return told | {"accuracy": table}


def election_json(result: Election, how: Judged) -> dict[str, Any]:
    """The election against base's own output, with its verdict and the sentence that says it."""
    low, high = result.difference.low, result.difference.high
    verdict = "beats" if high < 0 else "loses" if low > 0 else "open"
    if result.elected.count < FEWEST:
        verdict = "few"
    elif result.elected.mean == result.own.mean == 0:
        verdict = "nothing"
    elif how.chance:
        verdict = "chance"
    caution = _caution(result) if verdict == "beats" else ""
    sentence = f"{_verdict(result, verdict, how.documents)} {caution}".rstrip()
    told: dict[str, Any] = {"verdict": verdict, "sentence": sentence, "caution": caution}
    assert result.equal_length is not None
    for name, one in (("all", result), ("equal_length", result.equal_length)):
        parts = {"elected": one.elected, "base": one.own, "difference": one.difference}
        told[name] = {key: _plain(share, "documents") for key, share in parts.items()}
    return told


def _verdict(result: Election, verdict: str, documents: str) -> str:
    equal = result.equal_length
    assert equal is not None
    begin, end = {
        "beats": ("Electing beats base's own output", "Tuning on this vote should help."),
        "loses": (
            "Electing is worse than base's own output",
            "Expect tuning on this vote to make summaries of equal length no better, or worse.",
        ),
        "few": (
            "Too few documents to tell whether electing beats base's own output",
            f"From {FEWEST} on it is said whether tuning on this vote should help.",
        ),
        "nothing": (
            "Nothing was found to judge by",
            "Nothing can be said of tuning on this vote.",
        ),
        "chance": (
            "The control, scores dealt out at random",
            "What tuning on them gains is not the vote's.",
        ),
        "open": (
            "Electing is not shown to beat base's own output",
            "Tuning on this vote may help or do harm.",
        ),
    }[verdict]
    return (
        f"{begin}: {_percent(result.elected.mean)} of the elected candidates of "
        f"{result.elected.count:,} {documents} have something unsupported, "
        f"{_percent(result.own.mean)} of what base writes by itself. The difference is "
        f"{_points(result.difference)}; where both are equally long ({equal.elected.count:,} "
        f"documents) it is {_points(equal.difference)}. {end}"
    )


def _caution(result: Election) -> str:
    """A model that learns to write less says less that is wrong; a length penalty does that too."""
    elected, own = result.lengths
    if elected >= (1 - SHORTER) * own:
        return ""
    return (
        f"Some or all of it may be shortness: the elected have {elected:.1f} words, what base "
        f"writes {own:.1f}. Compare tuned and base at one length (decoding.length_penalty)."
    )


def _knows(compared: Mapping[str, Any], shares: list[Share], draws: NDArray[np.float64]) -> str:
    """Whether the vote knows more than the likelihood and than the reference."""
    found = dict(zip(compared, shares, strict=True))
    vote, names = found["vote"], list(found)
    if not vote.count:
        return (
            "No two candidates of a document are equally long and differ in what is unsupported: "
            "nothing can be said of what the vote knows."
        )
    likelihoods = [name for name in LIKELIHOODS if name in found]
    rivals = {}
    if likelihoods:
        rivals[max(likelihoods, key=lambda name: found[name].mean)] = "base's likelihood"
    if "reference" in found:
        rivals["reference"] = "the reference"
    said = " and ".join(f"{label} in {found[name].mean:.3f}" for name, label in rivals.items())
    verdicts = []
    for name, label in rivals.items():
        gap = draws[:, names.index("vote")] - draws[:, names.index(name)]
        (low,), (high,) = percentiles(gap[:, None], CONFIDENCE)
        amount = "more than" if low > 0 else "less than" if high < 0 else "not measurably more than"
        verdicts.append(f"{amount} {label}")
    told = (
        f"Of two equally long candidates the vote puts the better one first in {vote.mean:.3f} "
        f"[{vote.low:.3f}, {vote.high:.3f}] of {vote.count:,} pairs (.5 is chance)."
    )
    if not rivals:
        return told
    return f"{told} So does {said}: the vote knows {' and '.join(verdicts)}."


def _plain(share: Share, counted: str) -> dict[str, float | int | None]:
    values = asdict(share)
    count = values.pop("count")
    return {name: _number(value) for name, value in values.items()} | {counted: count}


def _number(value: float) -> float | None:
    return round(value, DECIMALS) if math.isfinite(value) else None


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _points(share: Share) -> str:
    if not math.isfinite(share.mean):
        return "none"
    mean, low, high = (f"{100 * value:+.1f}" for value in (share.mean, share.low, share.high))
    return f"{mean} points [{low}, {high}]"
