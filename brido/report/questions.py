"""QAFactEval's questions for the page: the documents whose score tuning changed most."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.evaluation.question_view import COLUMNS, question_rows
from brido.report.metrics import Scores
from brido.tables import read_batches

METRIC = "qafacteval"
SCORE = "lerc"


@dataclass(frozen=True)
class Examined:
    """One system's summary of a document, its score, and a row of texts (COLUMNS) a question."""

    system: str
    summary: str
    score: str
    questions: Sequence[Sequence[str]]


@dataclass(frozen=True)
class ExaminedDocument:
    """A test document and what two systems' summaries of it were asked."""

    id: str
    text: str
    change: float
    summaries: Sequence[Examined]


def most_changed(baseline: Scores, focus: Scores, count: int) -> list[tuple[str, float]]:
    """(id, change of the score) of the `count` documents that changed most, gains first."""
    before, after = baseline.column(METRIC, SCORE), focus.column(METRIC, SCORE)
    if before is None or after is None:
        return []
    changes = zip(focus.ids, (after - before).tolist(), strict=True)
    changed = sorted((item for item in changes if abs(item[1]) > 0), key=lambda item: -item[1])
    half = count // 2
    return changed if len(changed) <= count else changed[:half] + changed[-half:]


def read_examined(
    changes: Sequence[tuple[str, float]],
    corpus: Path,
    tables: Mapping[str, tuple[Path, Path]],
) -> list[ExaminedDocument]:
    """The documents of `changes`; tables: system -> its evaluation table and its summaries."""
    wanted = {name for name, _ in changes}
    documents = _rows(corpus, wanted, ["document"], "download")
    examined: dict[str, list[Examined]] = {name: [] for name in wanted}
    for system, (evaluation, decoded) in tables.items():
        summaries = _rows(decoded, wanted, ["summary"], f"decode@{system}")
        results = _rows(evaluation, wanted, [SCORE, "detail"], f"evaluate@{METRIC}-{system}")
        for name, result in results.items():
            rows = question_rows(json.loads(result["detail"]))
            cells = [[row[column] for column in COLUMNS] for row in rows]
            score = f"{result[SCORE]:.2f}"
            examined[name].append(Examined(system, summaries[name]["summary"], score, cells))
    return [
        ExaminedDocument(name, documents[name]["document"], change, examined[name])
        for name, change in changes
    ]


def _rows(path: Path, ids: set[str], columns: list[str], made_by: str) -> dict[str, dict[str, Any]]:
    """Some columns of a few rows of a table, by id."""
    batches = read_batches(path, None, made_by, ["id", *columns])
    return {row["id"]: row for batch in batches for row in batch.to_pylist() if row["id"] in ids}
