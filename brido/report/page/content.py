"""What the page of a run shows: its numbers, and a seeded sample of the validation documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from brido.report.numbers import Numbers, base_note
from brido.report.page import Page
from brido.report.page.data import Shown
from brido.report.page.details import Section
from brido.report.page.sample import sample
from brido.report.page.vote_check import vote_check
from brido.report.prompts import Asked
from brido.report.settings_text import run_order, settings_text
from brido.report.sources import sources_rows
from brido.report.summary import every_column, headline_columns, result_table, voting_note
from brido.report.unsupported import CaseMentions, VoteBin
from brido.settings.params import Params
from brido.tables.documents import CandidateDocument

_WORLD_MARKS = "names, places, numbers and days, checked exactly against the facts of the article"
_TEXT_MARKS = (
    "numbers and capitalised words, looked up in the article: an approximation that knows no "
    "synonyms"
)
_GOOD = "Good: a whole sentence without an unsupported mention."
_GOOD_BY_RULES = (
    "Good, approximate: without an unsupported mention, and whole by length, repetition and end "
    "(docs/metrics.md)."
)
_UNSEEN = (
    "Nothing else is checked: “has surprised experts” would stand unmarked although no article "
    "says so."
)


def compared(systems: Sequence[str]) -> tuple[str, str]:
    """The two systems whose summaries the page sets against each other: (baseline, focus)."""
    baseline = "base" if "base" in systems else systems[0]
    return baseline, "tuned" if "tuned" in systems else systems[-1]


def voting_checker(params: Params) -> str:
    """The checker that has a part in the vote, "" where none has."""
    return params.support.checker if params.scoring.support else ""


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
    headline = headline_columns(numbers.systems)
    first = next(iter(numbers.scores.values()))
    marks = _WORLD_MARKS if cases and cases[0].facts is not None else _TEXT_MARKS
    return Page(
        title="BRIDO: a run and its vote",
        settings=settings_text(params),
        headline=result_table(headline, *estimates),
        everything=result_table(every_column(numbers.systems), *estimates),
        documents=[Shown(cases[index], found[index], read[index]) for index in places],
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
            base_note(numbers.base),
            *([_GOOD] if ("world_judge", "good") in headline else []),
            *([_GOOD_BY_RULES] if ("mentions", "good") in headline else []),
            *([f"† {voting_note(voting)}."] if voting else []),
        ],
        check=vote_check(votes),
        sources=sources_rows(sources),
        details=details,
        prompt=(prompt.model, prompt.pieces) if prompt else None,
        marks=f"Marked are {marks}. {_UNSEEN}",
        signatures={name: item.signatures for name, item in numbers.scores.items()},
    )
