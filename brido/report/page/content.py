"""What the page of a run shows: its numbers, its prompt, and a seeded sample of the documents.

It opens on a document where a minority of the candidates is voted out.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from brido.checkers.mentions import Mention
from brido.models.settings import ReadingSettings
from brido.report.numbers import Numbers, base_note
from brido.report.page import Page
from brido.report.page.data import CaseMentions, Shown
from brido.report.settings import ReportSettings
from brido.report.settings_text import run_order, settings_text
from brido.report.sources import sources_rows
from brido.report.summary import every_column, headline_columns, result_table, voting_note
from brido.settings.params import Params
from brido.tables.documents import CandidateDocument
from brido.utils.errors import parsing
from brido.utils.stored import read_json

_WORLD_MARKS = "names, places, numbers and days, checked exactly against the facts of the article"
_TEXT_MARKS = (
    "numbers and capitalised words, looked up in the article: an approximation that does not know "
    "synonyms"
)
_GOOD = "Good: a whole sentence without an unsupported mention."
_GOOD_BY_RULES = (
    "Good, approximate: without an unsupported mention, and whole by length, repetition and end "
    "(docs/metrics.md)."
)
_UNSEEN = (
    "Nothing else is checked: “has surprised experts” would stay unmarked even if the article "
    "does not say it."
)


@dataclass(frozen=True)
class Asked:
    """Base's prompt: the text before, between and behind the places of the document.

    read: of each document, how many of its characters base read.
    """

    pieces: Sequence[str]
    read: Sequence[int]


def asked(folder: Path, reading: ReadingSettings, documents: Sequence[str]) -> Asked | None:
    """How base, in `folder`, was asked about `documents`; None where it takes no prompt.

    Raises:
        BridoError: the folder is missing or damaged.
    """
    from brido.models.checkpoint import load_tokenizer
    from brido.models.prompt import Prompt

    stage = f"checkpoint@{folder.name}"
    if read_json(folder / "config.json", stage).get("is_encoder_decoder", False):
        return None
    remedy = f"make it again with `dvc repro -sf {stage}`"
    with parsing(lambda reason: f"{folder} is damaged ({reason}): {remedy}"):
        prompt = Prompt.of(load_tokenizer(folder), reading)
    begin = str(prompt.tokenizer.decode(list(prompt.first)))
    pieces = (begin + prompt.pieces[0], *prompt.pieces[1:])
    limit = reading.max_source_tokens
    return Asked(pieces, [len(prompt.fit(document, limit)[1]) for document in documents])


def voting_checker(params: Params) -> str:
    """The checker that has a part in the vote, "" where none has."""
    asked_by = (params.scoring_of(name).asks_support for name in params.tuned)
    return params.support.checker if any(asked_by) else ""


def make_page(
    params: Params,
    numbers: Numbers,
    cases: Sequence[CandidateDocument],
    found: Sequence[CaseMentions],
    sources: Mapping[str, Any],
    choice: Mapping[str, Any],
    prompt: Asked | None = None,
) -> Page:
    """The page of a run; `found` are the mentions of `cases`, aligned.

    `sources`: what is known of each, empty if there is one alone; `choice` is what choice.json
    says, `prompt` is of `cases`. The filters compare base with the chosen system, or with the first
    other one where base is chosen.
    """
    settings, scoring = params.report, params.scoring
    others = [*params.tuned, *params.variants, "base"]
    focus = choice["chosen"] if choice["chosen"] != "base" else others[0]
    places = sample(cases, found, settings)
    read = prompt.read if prompt else [None] * len(cases)
    voting = voting_checker(params)
    estimates = numbers.systems, numbers.differences, voting
    headline = headline_columns(numbers.systems)
    first = next(iter(numbers.scores.values()))
    marks = _WORLD_MARKS if cases and cases[0].facts is not None else _TEXT_MARKS
    return Page(
        split=params.documents.splits[-1],
        settings=settings_text(params),
        headline=result_table(headline, *estimates),
        everything=result_table(every_column(numbers.systems), *estimates),
        documents=[Shown(cases[index], found[index], read[index]) for index in places],
        systems=params.all_systems,
        focus=focus,
        alpha=scoring.alpha,
        order=run_order(scoring),
        verdict=choice["verdict"],
        table=choice["table"],
        kept=choice["chosen"],
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
        sources=sources_rows(sources) if sources else (),
        prompt=prompt.pieces if prompt else None,
        marks=f"Marked are {marks}. {_UNSEEN}",
        signatures={name: item.signatures for name, item in numbers.scores.items()},
    )


def sample(
    cases: Sequence[CandidateDocument],
    found: Sequence[CaseMentions],
    settings: ReportSettings,
) -> list[int]:
    """Places of documents: first the one to open on, then others drawn at random, in order.

    found: the mentions of `cases`, aligned.
    """
    if not cases:
        return []
    size = min(settings.page_documents, len(cases))
    drawn = random.Random(settings.seed).sample(range(len(cases)), size)
    first = first_document(cases, found)
    return [first, *sorted([place for place in drawn if place != first][: size - 1])]


def first_document(cases: Sequence[CandidateDocument], found: Sequence[CaseMentions]) -> int:
    """The place in `cases` of the document that shows best what a vote does.

    The first candidate of the run's order is supported there, while some candidates that can be
    elected, but fewer than half of them, are not. Preferred are documents in which base's own
    summary is not supported either; then the one whose first candidate has most more score than the
    unsupported ones have on average. Where no document shows it, the first.
    """
    shown = [
        (_shows(case, mentions), -place)
        for place, (case, mentions) in enumerate(zip(cases, found, strict=True))
    ]
    return -max(shown)[1]


def _shows(case: CandidateDocument, found: CaseMentions) -> tuple[bool, bool, float]:
    """How well a document shows it, more is better; begins with False where it does not."""
    wrong = np.array([_is_wrong(mentions) for mentions in found.candidates])
    first, scores = case.order[0], np.array(case.scores)
    can_win = ~np.isnan(scores)
    bad = wrong & can_win
    if wrong[first] or not 0 < 2 * bad.sum() < can_win.sum():
        return False, False, 0.0
    own = _is_wrong(found.summaries.get("base", []))
    return True, own, float(scores[first] - scores[bad].mean())


def _is_wrong(mentions: Sequence[Mention]) -> bool:
    return any(not mention.supported for mention in mentions)
