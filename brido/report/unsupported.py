"""The mentions of candidates and summaries, and which orders put unsupported ones first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from brido.checkers.mentions import Mention
from brido.evaluation.mentions import find_mentions
from brido.report.settings_text import run_order
from brido.settings.params import Params
from brido.tables.documents import CandidateDocument

# Upper ends of the bins of the pool share; the lower end is the one before, 0 excluded.
BINS = (0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class CaseMentions:
    """The mentions of one document: of each candidate, and of each system's summary."""

    candidates: list[list[Mention]]
    summaries: dict[str, list[Mention]]


def case_mentions(case: CandidateDocument, params: Params) -> CaseMentions:
    """The mentions of every candidate and summary, as the metric `mentions` counts them."""

    def found(text: str) -> list[Mention]:
        return find_mentions(case.document, text, case.facts, params.evaluation.mentions)

    summaries = {system: found(text) for system, text in case.summaries.items()}
    return CaseMentions([found(text) for text in case.candidates], summaries)


@dataclass(frozen=True)
class Firsts:
    """One document: the mentions of its candidates, and of what each order puts first."""

    candidates: Sequence[Sequence[Mention]]
    first: Mapping[str, Sequence[Mention]]


@dataclass(frozen=True)
class VoteBin:
    """Cases whose pool share lies in (low, high]: a case is a document and a kind of mention.

    `pool` is the mean share of candidates with an unsupported mention of the kind; `elected` is,
    per order, the share of cases in which what it puts first has one.
    """

    low: float
    high: float
    cases: int
    pool: float
    elected: dict[str, float]


def first_choices(
    cases: Sequence[CandidateDocument], mentions: Sequence[CaseMentions], params: Params
) -> list[Firsts]:
    """What each order puts first, of every document; `mentions` are aligned with `cases`.

    The orders: the run's own (data/scores); where the reference has a part in it, the system
    `elected`, which has none; and candidates by their similarity to the reference, if there is one.
    """
    run = run_order(params.scoring)
    found = []
    for case, own in zip(cases, mentions, strict=True):
        first = {run: own.candidates[case.order[0]]}
        if params.scoring.alpha and "elected" in own.summaries:
            first["elected (without the reference)"] = own.summaries["elected"]
        if params.data.labelled:
            assert case.similarity is not None
            nearness = np.where(case.eligible, np.nan_to_num(case.similarity[:, -1]), -1.0)
            first["nearest to the reference"] = own.candidates[int(nearness.argmax())]
        found.append(Firsts(own.candidates, first))
    return found


def vote_bins(documents: Sequence[Firsts], bins: Sequence[float] = BINS) -> list[VoteBin]:
    """The first choices of each order by pool share; bins without a case are left out.

    A case is a document and a kind of mention (a town, an age, ...) of which at least one
    candidate has an unsupported one. An order that ignored the mentions would put such a candidate
    first as often as there are such candidates, so `elected` equals `pool` there; below it, the
    order removes them.
    """
    shares: list[float] = []
    carried: dict[str, list[bool]] = {}
    for document in documents:
        kinds = [unsupported_kinds(one) for one in document.candidates]
        for kind in sorted(set().union(*kinds)):
            shares.append(float(np.mean([kind in one for one in kinds])))
            for name, mentions in document.first.items():
                carried.setdefault(name, []).append(kind in unsupported_kinds(mentions))
    pool = np.array(shares)
    result = []
    for low, high in zip((0.0, *bins), bins, strict=False):
        inside = (pool > low) & (pool <= high)
        if inside.any():
            elected = {name: float(np.array(x)[inside].mean()) for name, x in carried.items()}
            result.append(
                VoteBin(low, high, int(inside.sum()), float(pool[inside].mean()), elected)
            )
    return result


def unsupported_kinds(mentions: Sequence[Mention]) -> set[str]:
    """The kinds of mentions of which a text has one that the source does not support."""
    return {mention.type for mention in mentions if not mention.supported}
