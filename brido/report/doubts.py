"""MiniCheck's sentences for the page: the documents whose most doubtful sentence changed most."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brido.report.cases import chosen_rows
from brido.report.display import ColumnKey
from brido.report.metrics import Scores
from brido.report.questions import most_changed

NAME = "minicheck"
COLUMN: ColumnKey = (NAME, "worst")
# A sentence below it is shown as doubted; `brido.checkers.minicheck` counts those.
DOUBT = 0.5


@dataclass(frozen=True)
class Doubted:
    """One system's summary: its sentences, each with its probability and whether it is doubted."""

    system: str
    worst: str
    sentences: Sequence[tuple[str, str, bool]]


@dataclass(frozen=True)
class DoubtedDocument:
    """A test document and the sentences of two systems' summaries of it."""

    id: str
    text: str
    change: float
    summaries: Sequence[Doubted]


def doubts(
    scores: Mapping[str, Scores], tables: Mapping[str, Path], corpus: Path
) -> list[DoubtedDocument]:
    """The documents that changed most from one system to the other, gains first.

    tables: system -> its MiniCheck table, baseline first; unless there are two, nothing to compare.
    """
    two = [scores[name] for name in tables]
    changes = most_changed(*two, COLUMN) if len(two) == 2 else []
    if not changes:
        return []
    wanted = {name for name, _ in changes}
    documents = chosen_rows(corpus, None, "download", wanted, ["document"])
    found: dict[str, list[Doubted]] = {name: [] for name in wanted}
    for system, path in tables.items():
        made_by = f"evaluate@{NAME}-{system}"
        for name, row in chosen_rows(path, None, made_by, wanted, ["worst", "detail"]).items():
            sentences = [
                (text, f"{probability:.2f}", probability < DOUBT)
                for text, probability in json.loads(row["detail"])["sentences"]
            ]
            found[name].append(Doubted(system, f"{row['worst']:.2f}", sentences))
    return [
        DoubtedDocument(name, documents[name]["document"], change, found[name])
        for name, change in changes
    ]
