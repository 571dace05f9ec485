"""Stage evaluate: one metric on one system's summaries of the test split.

    python -m stages.evaluate METRIC SYSTEM

It reads data/corpus/test.parquet and data/decoded/SYSTEM/test.parquet, and writes
data/evaluation/METRIC/SYSTEM.parquet: a row per document.
"""

import functools
import json
import sys
from pathlib import Path
from typing import Any

from brido.config import load_params
from brido.errors import BridoError, run_command
from brido.evaluation import Evaluation, Inputs, load_metric
from brido.progress import Progress, say
from brido.settings import Params
from brido.tables import CORPUS, DECODED, evaluation_schema, read_rows, write_table
from brido.work.shards import Shards, fingerprint
from stages import paths

SPLIT = "test"


def main() -> None:
    """Evaluate the metric and the system that the command line names."""
    if len(sys.argv) != 3:
        raise BridoError("usage: python -m stages.evaluate METRIC SYSTEM")
    evaluate(load_params(), *sys.argv[1:])


def evaluate(params: Params, metric: str, system: str) -> Path:
    """Measure, write the table, and return its path."""
    function = load_metric(metric)
    settings = getattr(params.evaluation, metric)
    inputs = read_inputs(system, params.text.sentence_splitter)
    files = (paths.corpus(SPLIT), paths.decoded(system, SPLIT))
    key = fingerprint({"settings": settings, "text": params.text}, files)
    work = Shards(f"evaluate/{metric}-{system}", key, evaluation_schema(()))
    progress = functools.partial(Progress, interval=params.runtime.log_seconds)
    result = function(inputs, settings, work.folder, progress, runtime=params.runtime)
    path = paths.evaluation(metric, system)
    write_evaluation(path, inputs, result)
    work.clear()
    say(f"{metric} {system}: {describe(result)}")
    return path


def read_inputs(system: str, sentence_splitter: Any) -> Inputs:
    """The documents and the system's summaries, aligned; BridoError where ids differ."""
    corpus = read_rows(paths.corpus(SPLIT), CORPUS, "download")
    made_by = "download" if system == "reference" else f"decode@{system}"
    decoded_path = paths.decoded(system, SPLIT)
    decoded = read_rows(decoded_path, DECODED, made_by)
    if [row["id"] for row in corpus] != [row["id"] for row in decoded]:
        raise BridoError(
            f"{decoded_path} holds other documents than {paths.corpus(SPLIT)} "
            f"({len(decoded)} and {len(corpus)} rows): make it again with `dvc repro {made_by}`"
        )
    facts = [row["facts"] for row in corpus] if corpus and "facts" in corpus[0] else None
    return Inputs(
        ids=[row["id"] for row in corpus],
        documents=[row["document"] for row in corpus],
        summaries=[row["summary"] for row in decoded],
        references=[row["references"] for row in corpus],
        facts=facts,
        sentence_splitter=sentence_splitter,
    )


def write_evaluation(path: Path, inputs: Inputs, result: Evaluation) -> None:
    """Write one row per document; the signature goes into the table's metadata."""
    columns = list(result.rows[0]) if result.rows else []
    rows = [
        {"id": identity, **row, "detail": json.dumps(detail, ensure_ascii=False, sort_keys=True)}
        for identity, row, detail in zip(inputs.ids, result.rows, result.details, strict=True)
    ]
    signature = {**result.signature, "n": len(rows)}
    write_table(path, [rows], evaluation_schema(columns), {"signature": signature})


def describe(result: Evaluation) -> str:
    """The means of the submetrics, in words."""
    parts = []
    for name in result.rows[0] if result.rows else ():
        values = [row[name] for row in result.rows if row[name] is not None]
        if values:
            parts.append(f"{name} {sum(values) / len(values):.4g}")
    return ", ".join(parts) or "nothing measured"


if __name__ == "__main__":
    run_command(main)
