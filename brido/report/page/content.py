"""What the page of a run shows: its numbers, and a seeded sample of the validation documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from brido.report.mention_finder import CaseMentions
from brido.report.numbers import Numbers
from brido.report.page import Page
from brido.report.page.data import Document, MarkedText, Standing
from brido.report.page.details import Section
from brido.report.page.sample import sample
from brido.report.page.vote_check import vote_check
from brido.report.prompts import Asked
from brido.report.settings_text import run_order, settings_text
from brido.report.sources import sources_rows
from brido.report.summary import every_column, headline_columns, result_table, voting_note
from brido.report.unsupported import VoteBin
from brido.settings.params import Params
from brido.tables.documents import CandidateDocument

_WORLD_MARKS = "The embedded world knows its facts, so every mention is found and checked exactly."
_TEXT_MARKS = (
    "Marked are numbers and capitalised words, looked up in the article: an approximation, which "
    "overlooks other words and knows no synonyms."
)


def compared(systems: Sequence[str]) -> tuple[str, str]:
    """The two systems whose summaries the page sets against each other: (baseline, focus)."""
    baseline = "base" if "base" in systems else systems[0]
    return baseline, "tuned" if "tuned" in systems else systems[-1]


def voting_checker(params: Params) -> str:
    """The checker that has a part in the vote, "" where none has."""
    return params.support.checker if params.scoring.support_weight else ""


def make_page(
    params: Params,
    numbers: Numbers,
    cases: Sequence[CandidateDocument],
    found: Sequence[CaseMentions],
    bins: Sequence[VoteBin],
    votes: Mapping[str, Any],
    sources: Mapping[str, Any],
    details: Sequence[Section] = (),
    prompt: Asked | None = None,
) -> Page:
    """The page of a run; `found` are the mentions of `cases`, aligned.

    `votes` and `sources` are what votes.json and sources.json say, `prompt` is of `cases`.
    """
    settings = params.report
    baseline, focus = compared(params.systems)
    places = sample(cases, found, baseline, settings)
    read = prompt.read if prompt else [None] * len(cases)
    voting = voting_checker(params)
    estimates = numbers.systems, numbers.differences, voting
    first = next(iter(numbers.scores.values()))
    return Page(
        title="BRIDO: the vote at work",
        settings=settings_text(params),
        headline=result_table(headline_columns(numbers.systems), *estimates),
        everything=result_table(every_column(numbers.systems), *estimates),
        documents=[_document(cases[index], found[index], read[index]) for index in places],
        systems=params.systems,
        focus=focus,
        baseline=baseline,
        alpha=params.scoring.alpha,
        order=run_order(params.scoring),
        bins=bins,
        warnings=numbers.warnings,
        notes=[
            f"Means over {len(first.ids):,} test documents; below them bootstrap intervals "
            f"over documents ({100 * settings.confidence:g} %).",
            "Differences are paired; coloured where the interval leaves out 0.",
            f"All of base {numbers.base or 'unknown'}: numbers of another base do not compare.",
            *([f"† {voting_note(voting)}."] if voting else []),
        ],
        check=vote_check(votes),
        sources=sources_rows(sources),
        details=details,
        prompt=(prompt.model, prompt.pieces) if prompt else None,
        marks=_WORLD_MARKS if cases and cases[0].facts is not None else _TEXT_MARKS,
        signatures={name: item.signatures for name, item in numbers.scores.items()},
    )


def _document(case: CandidateDocument, found: CaseMentions, read: int | None) -> Document:
    return Document(
        case.id,
        case.document,
        {name: MarkedText(text, found.summaries[name]) for name, text in case.summaries.items()},
        [
            MarkedText(text, mentions)
            for text, mentions in zip(case.candidates, found.candidates, strict=True)
        ],
        case.similarity,
        case.scores,
        case.order,
        _standings(case),
        read,
    )


def _standings(case: CandidateDocument) -> list[Standing]:
    """Nothing where nobody needs to be told apart."""
    several = len(set(case.sources)) > 1
    if not several and all(case.eligible):
        return []
    return [
        Standing(source if several else "", votes, eligible)
        for source, votes, eligible in zip(case.sources, case.voters, case.eligible, strict=True)
    ]
