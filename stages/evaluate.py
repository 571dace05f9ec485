"""Stage evaluate: one metric on one system's summaries of the test split.

    python -m stages.evaluate METRIC SYSTEM

It reads data/corpus/test.parquet and data/decoded/SYSTEM/test.parquet, and writes
data/evaluation/METRIC/SYSTEM.parquet: a row per document.
"""

import functools
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from brido.config import load_params
from brido.errors import BridoError, run_command
from brido.evaluation import Evaluation, Inputs
from brido.evaluation.registry import find_metric
from brido.progress import Progress, say
from brido.settings import Params
from brido.tables import CORPUS, DECODED, evaluation_schema, read_rows, write_table
from brido.text import Splitter
from stages import paths

SPLIT = "test"


def main() -> None:
    """Evaluate the metric and the system that the command line names."""
    if len(sys.argv) != 3:
        raise BridoError("usage: python -m stages.evaluate METRIC SYSTEM")
    evaluate(load_params(), *sys.argv[1:])


def evaluate(params: Params, name: str, system: str) -> Path:
    """Measure, write the table, and return its path."""
    metric = find_metric(name)
    inputs = read_inputs(system, params.text.sentence_splitter)
    settings = getattr(params.evaluation, name)
    progress = functools.partial(Progress, interval=params.runtime.log_seconds)
    result = metric.measure(inputs, settings, progress, params.runtime)
    path = paths.evaluation(name, system)
    write_evaluation(path, metric.names, inputs.ids, result)
    means = {column: mean for column, mean in result.means().items() if not math.isnan(mean)}
    shown = ", ".join(f"{column} {mean:.4g}" for column, mean in means.items())
    say(f"{name} {system}: {shown or 'nothing measured'}")
    return path


def read_inputs(system: str, sentence_splitter: Splitter) -> Inputs:
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
    return Inputs(
        ids=[row["id"] for row in corpus],
        documents=[row["document"] for row in corpus],
        summaries=[row["summary"] for row in decoded],
        references=[row["references"] for row in corpus],
        facts=[row["facts"] for row in corpus] if corpus and "facts" in corpus[0] else None,
        sentence_splitter=sentence_splitter,
    )


def write_evaluation(
    path: Path, columns: Sequence[str], ids: Sequence[str], result: Evaluation
) -> None:
    """Write one row per document; the signature goes into the table's metadata."""
    rows = [
        {"id": identity, **row, "detail": json.dumps(detail, ensure_ascii=False, sort_keys=True)}
        for identity, row, detail in zip(ids, result.rows, result.details, strict=True)
    ]
    signature = {**result.signature, "n": len(rows)}
    write_table(path, [rows], evaluation_schema(columns), {"signature": signature})


if __name__ == "__main__":
    run_command(main)
