"""Metrics of one system's summaries: measured part by part by workers, joined to one table."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from brido.evaluation import Inputs
from brido.evaluation.registry import find_metric
from brido.tables import CORPUS, DECODED, evaluation_schema, has_facts
from brido.tables.read import Part, Table, walk
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
    for tables in walk(first, [other], part=None if rows is None else Part(rows, rows)):
        for name, values in found.items():
            table = tables[1] if name == "summary" else tables[0]
            values += table.column(name).to_pylist()
    if not found["id"]:
        raise BridoError(f"{corpus} has no rows: there is nothing to measure")
    texts = found["id"], found["document"], found["summary"], found["references"]
    return Inputs(*texts, found.get("facts"))


@dataclass
class Measurer:
    """Rows of the metric of that name, from the tables of corpus and summaries.

    See `brido.work.worker.MakeWorker`. `progress` shows what goes on inside a part.
    """

    metric: str
    settings: Section
    runtime: RuntimeSettings
    corpus: Path
    decoded: Path
    device: str
    advance: Advance | None = None
    progress: MakeProgress = quiet

    def __call__(self, rows: range) -> Result:
        """A row of the evaluation table for each document, and what the signature is made of."""
        inputs = read_inputs(self.corpus, self.decoded, rows=rows)
        runtime = self.runtime.model_copy(update={"device": self.device})
        found = find_metric(self.metric).measure(inputs, self.settings, self.progress, runtime)
        table = [
            {
                "id": identity,
                **row,
                "detail": json.dumps(detail, ensure_ascii=False, sort_keys=True),
            }
            for identity, row, detail in zip(inputs.ids, found.rows, found.details, strict=True)
        ]
        counts = {**found.counts, "n": len(table)}
        return table, {"signature": found.signature, "counts": counts}


def join_signatures(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The signature of the whole table, with its parts' counts summed.

    Raises:
        BridoError: parts were measured in different ways, as by other versions of a package.
    """
    if any(part["signature"] != parts[0]["signature"] for part in parts):
        raise BridoError(
            "parts of a table were measured in different ways: install the same packages on all "
            "machines, remove .brido/work/evaluate, and run again"
        )
    names = parts[0]["counts"]
    counts = {name: sum(part["counts"][name] for part in parts) for name in names}
    return parts[0]["signature"] | counts


def join_metrics(
    ids: Sequence[str], names: Sequence[str], tables: Mapping[str, pa.Table]
) -> pa.Table:
    """One table of all metrics: id, METRIC.COLUMN of every metric in `names`, and `detail`.

    ids: the documents, those of each table. A metric without a table was not measured: its columns
    are null. `detail` is a JSON object with the detail of each metric that was.
    """
    columns: dict[str, Any] = {"id": pa.array(ids)}
    for name in names:
        for column in find_metric(name).names:
            known = tables[name][column] if name in tables else pa.nulls(len(ids), pa.float64())
            columns[f"{name}.{column}"] = known
    details = [table["detail"].to_pylist() for table in tables.values()]
    columns["detail"] = [
        "{" + ", ".join(f'"{name}": {own}' for name, own in zip(tables, row, strict=True)) + "}"
        for row in (zip(*details, strict=True) if details else [()] * len(ids))
    ]
    schema = evaluation_schema([name for name in columns if name not in ("id", "detail")])
    return pa.table(columns, schema=schema)
