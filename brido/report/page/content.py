"""What the page of a run shows: its numbers, its prompt, and a seeded sample of the documents.

It opens on a document where a minority of the candidates is voted out.
"""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from brido.checkers.mentions import Mention
from brido.report.display import every_column
from brido.report.numbers import Numbers, base_note
from brido.report.page import render_page
from brido.report.page.data import Shown, document_json
from brido.report.settings import ReportSettings
from brido.report.settings_text import run_order, settings_text
from brido.report.sources import LEGEND, sources_rows
from brido.report.summary import headline_columns, result_table
from brido.settings.params import Params


def make_page(
    params: Params,
    numbers: Numbers,
    shown: Sequence[Shown],
    sources: Mapping[str, Any],
    choice: Mapping[str, Any],
) -> str:
    """The page of a run as HTML, with some of the documents `shown`.

    `sources`: what is known of each, empty if there is one alone; `choice` is what choice.json
    says. The filters compare base with the chosen system, or with the first other one where base is
    chosen.
    """
    settings, chosen = params.report, choice["chosen"]
    others, places = [*params.tuned, *params.variants, "base"], sample(shown, settings)
    estimates = numbers.systems, numbers.differences
    first = next(iter(numbers.scores.values()))
    signatures = {name: item.signatures for name, item in numbers.scores.items()}
    page = {
        "shown": len(places),
        "split": params.documents.splits[-1],
        "settings": settings_text(params),
        "headline": result_table(headline_columns(numbers.systems), *estimates),
        "everything": result_table(every_column(numbers.systems), *estimates),
        "verdict": choice["verdict"],
        "table": choice["table"],
        "warnings": numbers.warnings,
        "documents": f"{len(first.ids):,}",
        "confidence": f"{100 * settings.confidence:g}",
        "base_note": base_note(numbers.base),
        "sources": sources_rows(sources) if sources else (),
        "legend": LEGEND,
        # Whether mentions are looked up in what the world knows of an article.
        "exact": bool(shown) and shown[0].case.facts is not None,
        "signatures": json.dumps(signatures, indent=1, ensure_ascii=False, sort_keys=True),
    }
    scripts = {
        "systems": params.all_systems,
        "focus": chosen if chosen != "base" else others[0],
        "kept": chosen,
        # JSON has no infinity.
        "alpha": "inf" if np.isinf(params.scoring.alpha) else params.scoring.alpha,
        "order": run_order(params.scoring),
        "documents": [document_json(shown[place]) for place in places],
    }
    return render_page(page, scripts)


def sample(shown: Sequence[Shown], settings: ReportSettings) -> list[int]:
    """Places of documents: first the one to open on, then others drawn at random, in order."""
    if not shown:
        return []
    size = min(settings.page_documents, len(shown))
    drawn = random.Random(settings.seed).sample(range(len(shown)), size)
    first = first_document(shown)
    return [first, *sorted([place for place in drawn if place != first][: size - 1])]


def first_document(documents: Sequence[Shown]) -> int:
    """The place of the document that shows best what a vote does.

    The first candidate of the run's order is supported there, while some candidates that can be
    elected, but fewer than half of them, are not. Preferred are documents in which base's own
    summary is not supported either; then the one whose first candidate has most more score than the
    unsupported ones have on average. Where no document shows it, the first.
    """
    return -max((_shows(one), -place) for place, one in enumerate(documents))[1]


def _shows(one: Shown) -> tuple[bool, bool, float]:
    """How well a document shows it, more is better; begins with False where it does not."""
    wrong = np.array([_is_wrong(mentions) for mentions in one.candidates])
    first, scores = one.case.order[0], np.array(one.case.scores)
    can_win = ~np.isnan(scores)
    bad = wrong & can_win
    if wrong[first] or not 0 < 2 * bad.sum() < can_win.sum():
        return False, False, 0.0
    own = _is_wrong(one.summaries.get("base", []))
    return True, own, float(scores[first] - scores[bad].mean())


def _is_wrong(mentions: Sequence[Mention]) -> bool:
    return any(not mention.supported for mention in mentions)
