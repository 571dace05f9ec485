"""QAFactEval's questions for the page: the documents whose score tuning changed most."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brido.evaluation.question_view import COLUMNS, question_rows
from brido.report.cases import chosen_rows
from brido.report.display import ColumnKey
from brido.report.metrics import Scores

NAME = "qafacteval"
SCORE = "lerc"
# Documents that the page shows.
SHOWN = 12


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


def examine(
    scores: Mapping[str, Scores], tables: Mapping[str, tuple[Path, Path]], corpus: Path
) -> list[ExaminedDocument]:
    """The documents that changed most from one system to the other, with what both were asked.

    tables: system -> its QAFactEval table and its summaries, baseline first; unless there are two,
    there is nothing to compare.
    """
    two = [scores[name] for name in tables]
    changes = most_changed(*two, (NAME, SCORE)) if len(two) == 2 else []
    if not changes:
        return []
    wanted = {name for name, _ in changes}
    documents = chosen_rows(corpus, None, "download", wanted, ["document"])
    examined: dict[str, list[Examined]] = {name: [] for name in wanted}
    for system, (evaluation, decoded) in tables.items():
        summaries = chosen_rows(decoded, None, f"decode@{system}", wanted, ["summary"])
        made_by = f"evaluate@{NAME}-{system}"
        results = chosen_rows(evaluation, None, made_by, wanted, [SCORE, "detail"])
        for name, result in results.items():
            rows = question_rows(json.loads(result["detail"]))
            cells = [[row[column] for column in COLUMNS] for row in rows]
            score = f"{result[SCORE]:.2f}"
            examined[name].append(Examined(system, summaries[name]["summary"], score, cells))
    return [
        ExaminedDocument(name, documents[name]["document"], change, examined[name])
        for name, change in changes
    ]


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
