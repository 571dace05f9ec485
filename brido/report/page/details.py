"""What a metric says beside its numbers, of the test documents whose number changed most."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.evaluation.question_view import COLUMNS, question_rows
from brido.report.display import ColumnKey
from brido.report.metrics import Scores
from brido.tables import read_batches

Rows = list[list[str]]
# Documents that a section shows.
SHOWN = 12
# A sentence with a lower probability is marked; `brido.checkers.minicheck` counts those.
DOUBT = 0.5


@dataclass(frozen=True)
class View:
    """How a metric's details are shown: by which of its columns, and as which table."""

    column: str
    title: str
    note: str
    headings: Sequence[str]
    rows: Callable[[Any], Rows]


@dataclass(frozen=True)
class Detailed:
    """One system's summary of a document, its number, and the rows of its table."""

    system: str
    summary: str
    number: str
    rows: Rows


@dataclass(frozen=True)
class DetailedDocument:
    """A test document, how its number changed, and the summaries of two systems."""

    id: str
    text: str
    change: float
    summaries: Sequence[Detailed]


@dataclass(frozen=True)
class Section:
    """A section of the page: a metric's details."""

    metric: str
    view: View
    documents: Sequence[DetailedDocument]


def _sentences(detail: Any) -> Rows:
    return [
        [text, f"{probability:.2f}", "in doubt" if probability < DOUBT else ""]
        for text, probability in detail["sentences"]
    ]


VIEWS = {
    "qafacteval": View(
        "lerc",
        "Questions asked",
        "QAFactEval asks each summary and its article the same questions.",
        COLUMNS,
        question_rows,
    ),
    "minicheck": View(
        "worst",
        "Sentences in doubt",
        "MiniCheck estimates how probable it is that the article supports a sentence.",
        ("sentence", "probability", ""),
        _sentences,
    ),
}


def read_details(
    scores: Mapping[str, Scores],
    tables: Mapping[str, Mapping[str, Path]],
    decoded: Mapping[str, Path],
    corpus: Path,
) -> list[Section]:
    """A section for each metric of VIEWS that both systems have: what changed most between them.

    tables: of two systems, baseline first, each metric's evaluation table; decoded: their
    summaries.

    Raises:
        BridoError: a table is missing or damaged.
    """
    if len(tables) != 2 or not all(name in scores for name in tables):
        return []
    baseline, focus = (scores[name] for name in tables)
    sections = []
    for metric, view in VIEWS.items():
        changes = most_changed(baseline, focus, (metric, view.column))
        if not changes:
            continue
        wanted = dict(changes)
        texts = _rows(corpus, "download", wanted, "document")
        own = [
            _detailed(name, paths[metric], decoded[name], wanted, metric)
            for name, paths in tables.items()
        ]
        documents = [
            DetailedDocument(name, texts[name]["document"], change, [found[name] for found in own])
            for name, change in changes
        ]
        sections.append(Section(metric, view, documents))
    return sections


def most_changed(
    baseline: Scores, focus: Scores, column: ColumnKey, count: int = SHOWN
) -> list[tuple[str, float]]:
    """(id, change of a number) of the `count` documents that changed most, gains first."""
    before, after = baseline.column(*column), focus.column(*column)
    if before is None or after is None:
        return []
    changes = zip(focus.ids, (after - before).tolist(), strict=True)
    changed = sorted((item for item in changes if abs(item[1]) > 0), key=lambda item: -item[1])
    half = count // 2
    return changed if len(changed) <= count else changed[:half] + changed[-half:]


def _detailed(
    system: str, table: Path, decoded: Path, wanted: Mapping[str, float], metric: str
) -> dict[str, Detailed]:
    view = VIEWS[metric]
    summaries = _rows(decoded, f"decode@{system}", wanted, "summary")
    results = _rows(table, f"evaluate@{metric}-{system}", wanted, view.column, "detail")
    return {
        name: Detailed(
            system,
            summaries[name]["summary"],
            f"{row[view.column]:.2f}",
            view.rows(json.loads(row["detail"])),
        )
        for name, row in results.items()
    }


def _rows(
    path: Path, made_by: str, wanted: Mapping[str, float], *columns: str
) -> dict[str, dict[str, Any]]:
    """The rows of a table whose ids are wanted, by id, with these columns."""
    return {
        row["id"]: row
        for batch in read_batches(path, None, made_by, ["id", *columns])
        for row in batch.to_pylist()
        if row["id"] in wanted
    }
