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
    """A test document and how its number changed.

    summaries: of the two systems (name, summary, number as text, the rows of its table).
    """

    id: str
    text: str
    change: float
    summaries: Sequence[tuple[str, str, str, Rows]]


@dataclass(frozen=True)
class Section:
    """A section of the page: a metric's details."""

    metric: str
    view: View
    documents: Sequence[Detailed]


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
        changes = dict(most_changed(baseline, focus, (metric, view.column)))
        if not changes:
            continue
        texts = _column(corpus, "download", "document", changes)
        own: dict[str, list[tuple[str, str, str, Rows]]] = {name: [] for name in changes}
        for system, paths in tables.items():
            summaries = _column(decoded[system], f"decode@{system}", "summary", changes)
            made_by = f"evaluate@{metric}-{system}"
            numbers = _column(paths[metric], made_by, view.column, changes)
            found = _column(paths[metric], made_by, "detail", changes)
            for name, shown in own.items():
                rows = view.rows(json.loads(found[name]))
                shown.append((system, summaries[name], f"{numbers[name]:.2f}", rows))
        documents = [
            Detailed(name, texts[name], change, own[name]) for name, change in changes.items()
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


def _column(path: Path, made_by: str, column: str, ids: Mapping[str, float]) -> dict[str, Any]:
    """One column of a table's rows with these ids, by id."""
    return {
        row["id"]: row[column]
        for batch in read_batches(path, None, made_by, ["id", column])
        for row in batch.to_pylist()
        if row["id"] in ids
    }
