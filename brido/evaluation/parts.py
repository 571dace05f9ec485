"""One metric of one system's summaries, part by part: what the workers of stage evaluate do."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from brido.evaluation import Inputs
from brido.evaluation.registry import find_metric
from brido.tables import CORPUS, DECODED, evaluation_schema, has_facts, read_columns
from brido.tables.walk import Part, Table, walk
from brido.utils.errors import BridoError
from brido.utils.progress import MakeProgress, quiet
from brido.utils.sections import Section
from brido.work.settings import RuntimeSettings
from brido.work.worker import Advance, Result

# Documents of a part: enough for full batches of a model, few enough to lose none to a kill.
PART = 64
_TEXTS = ("document", "references")


def read_inputs(
    corpus: Path, decoded: Path, made_by: str = "", rows: range | None = None
) -> Inputs:
    """What a metric sees of two tables with the same documents; `rows`: of these rows only.

    made_by: the stage that made `decoded`, for messages.

    Raises:
        BridoError: the tables hold different documents, or none.
    """
    columns = (*_TEXTS, "facts") if has_facts(corpus) else _TEXTS
    first = Table(corpus, CORPUS, "download", columns)
    other = Table(decoded, DECODED, made_by, ("summary",))
    found: dict[str, list[Any]] = {name: [] for name in ("id", *columns, "summary")}
    for texts, written in walk(first, [other], part=None if rows is None else Part(rows, rows)):
        for name in ("id", *columns):
            found[name] += texts.column(name).to_pylist()
        found["summary"] += written.column("summary").to_pylist()
    if not found["id"]:
        raise BridoError(f"{corpus} has no rows: there is nothing to measure")
    return Inputs(
        ids=found["id"],
        documents=found["document"],
        summaries=found["summary"],
        references=found["references"],
        facts=found.get("facts"),
    )


class Measurer:
    """Rows of a metric's table.

    Made from the metric's name, its settings, section runtime and the tables of corpus and
    summaries; then see `brido.work.worker.MakeWorker`. `progress` shows what goes on inside a
    part.
    """

    def __init__(
        self,
        metric: str,
        settings: Section,
        runtime: RuntimeSettings,
        corpus: Path,
        decoded: Path,
        device: str,
        advance: Advance | None = None,
        progress: MakeProgress = quiet,
    ) -> None:
        self._metric, self._settings = find_metric(metric), settings
        self._runtime = runtime.model_copy(update={"device": device})
        self._corpus, self._decoded = corpus, decoded
        self._progress = progress

    def __call__(self, rows: range) -> Result:
        """A row of the evaluation table for each document, and what the signature is made of."""
        inputs = read_inputs(self._corpus, self._decoded, rows=rows)
        found = self._metric.measure(inputs, self._settings, self._progress, self._runtime)
        table = [
            {"id": identity, **row, "detail": _json(detail)}
            for identity, row, detail in zip(inputs.ids, found.rows, found.details, strict=True)
        ]
        counts = {**found.counts, "n": len(table)}
        return table, {"signature": found.signature, "counts": counts}


def _json(detail: Any) -> str:
    return json.dumps(detail, ensure_ascii=False, sort_keys=True)


def join_signatures(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The signature of the whole table, with its counts summed.

    Raises:
        BridoError: parts were measured in different ways, as by other versions of a package.
    """
    first = parts[0]["signature"]
    for part in parts:
        if part["signature"] != first:
            raise BridoError(
                f"parts of a table were measured in different ways ({_json(first)} and "
                f"{_json(part['signature'])}): install the same packages on all machines, remove "
                ".brido/work/evaluate, and run again"
            )
    names = parts[0]["counts"]
    return first | {name: sum(part["counts"][name] for part in parts) for name in names}


def column_means(path: Path, names: Sequence[str]) -> dict[str, float]:
    """The mean of each column of an evaluation table that has a number at all."""
    table = read_columns(path, evaluation_schema(names), "evaluate", list(names))
    means = {name: pc.mean(table[name]).as_py() for name in names}
    return {name: mean for name, mean in means.items() if mean is not None}
