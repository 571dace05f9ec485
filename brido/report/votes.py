"""The vote at work: which unsupported mentions candidates carry, and which ones get elected."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brido.report.settings_text import alpha_text
from brido.report.validation import Case
from brido.vote.consensus import eligible_scores, ranking

# Upper ends of the bins of the pool share; the lower end is the one before, 0 excluded.
BINS = (0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Mention:
    """A checkable span of a summary: text[start:end], its kind, whether the source supports it."""

    start: int
    end: int
    kind: str
    supported: bool


@dataclass(frozen=True)
class Ballot:
    """One document's candidates before the vote.

    `mentions[i]` are candidate i's; `elected` maps a ranking's name to the index it puts first.
    """

    mentions: Sequence[Sequence[Mention]]
    elected: Mapping[str, int]


@dataclass(frozen=True)
class VoteBin:
    """Cases whose pool share lies in (low, high]: a case is a document and a kind of mention.

    `pool` is the mean share of candidates with an unsupported mention of the kind; `elected` is,
    per ranking, the share of cases in which its first candidate has one.
    """

    low: float
    high: float
    cases: int
    pool: float
    elected: dict[str, float]


def named_rankings(alpha: float, labelled: bool = True) -> dict[str, float]:
    """The rankings that the votes figure compares, with their alphas; `alpha` is the run's own.

    labelled: whether there are references that could rank.
    """
    trained = {f"as trained (α = {alpha_text(alpha)})": alpha} if 0 < alpha < math.inf else {}
    reference = {"reference (α = ∞)": math.inf} if labelled else {}
    return {"consensus (α = 0)": 0.0} | trained | reference


def cast_votes(
    cases: Sequence[Case],
    mentions: Sequence[Sequence[Sequence[Mention]]],
    rankings: Mapping[str, float],
) -> list[Ballot]:
    """A ballot a document: its candidates ranked at each alpha, and their mentions."""
    return [
        Ballot(found, {name: _elected(case, alpha) for name, alpha in rankings.items()})
        for case, found in zip(cases, mentions, strict=True)
    ]


def case_scores(case: Case, alpha: float) -> NDArray[np.float64]:
    """The scores [N] of a document's candidates as the page ranks them, NaN for who cannot win."""
    flags = (np.array([flags]) for flags in (case.voters, case.eligible))
    return eligible_scores(case.similarity[None], alpha, "equation", *flags)[0]


def _elected(case: Case, alpha: float) -> int:
    return int(ranking(case_scores(case, alpha)[None])[0, 0])


def vote_bins(ballots: Sequence[Ballot], bins: Sequence[float] = BINS) -> list[VoteBin]:
    """The votes of `ballots` by pool share, bins without a case left out.

    A case is a document and a kind of mention (a town, an age, ...) of which at least one
    candidate has an unsupported one. A vote that ignored the mentions would elect a carrier as
    often as candidates carry it, so `elected` equals `pool` there; below it, the vote removes.
    """
    shares: list[float] = []
    carried: dict[str, list[bool]] = {}
    for ballot in ballots:
        for carriers in _carriers(ballot.mentions).values():
            shares.append(float(carriers.mean()))
            for name, index in ballot.elected.items():
                carried.setdefault(name, []).append(bool(carriers[index]))
    pool = np.array(shares)
    result = []
    low = 0.0
    for high in bins:
        inside = (pool > low) & (pool <= high)
        if inside.any():
            elected = {name: float(np.array(x)[inside].mean()) for name, x in carried.items()}
            result.append(
                VoteBin(low, high, int(inside.sum()), float(pool[inside].mean()), elected)
            )
        low = high
    return result


def _carriers(mentions: Sequence[Sequence[Mention]]) -> dict[str, NDArray[np.bool_]]:
    """For every kind with an unsupported mention: which candidates [N] have one."""
    kinds = sorted({item.kind for one in mentions for item in one if not item.supported})
    return {
        kind: np.array(
            [any(item.kind == kind and not item.supported for item in one) for one in mentions]
        )
        for kind in kinds
    }
