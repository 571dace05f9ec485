"""Stage evaluate: all metrics of one system's summaries, a table for each split.

    python -m stages.evaluate SYSTEM

It writes data/evaluation/SYSTEM/{test,validation}.parquet: a row per document, a column for each
column of a metric. On validation documents it measures what stage choose compares.
"""

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from brido.evaluation.metric import Metric
from brido.evaluation.parts import PART, Measurer, join_metrics, join_signatures, read_inputs
from brido.evaluation.registry import find_metric
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import evaluation_schema, write_table
from brido.tables.join import decoded_by
from brido.tables.read import cut
from brido.utils.errors import run_command
from brido.utils.progress import Progress, say
from brido.work.running import Splits
from brido.work.shards import code_key, fingerprint
from brido.work.worker import core_workers, model_workers
from stages import paths
from stages.arguments import name_given


def main() -> None:
    """Evaluate the system that the command line names."""
    params = load_params()
    system = name_given("evaluate", "SYSTEM", params.all_systems, "a system")
    if system == "base":
        paths.check_base("evaluate base")
    evaluate(params, system, "test")
    if system in params.choosable:
        evaluate(params, system, "validation")


def metrics_of(params: Params, system: str, split: str) -> list[Metric]:
    """The metrics that are measured: of validation documents those that stage choose compares.

    Of the reference those that do not compare with references.
    """
    metrics = [find_metric(name) for name in params.evaluation.metrics]
    if system == "reference":
        metrics = [metric for metric in metrics if not metric.against_references]
    if split == "validation":
        by = (params.choice.by or "").partition(".")[0]
        metrics = [metric for metric in metrics if metric.chooses or metric.name == by]
    return metrics


class Measured(NamedTuple):
    """The table of one metric, its signature, and the shards it was put together from."""

    table: pa.Table
    signature: dict[str, Any]
    work: Splits | None = None


def evaluate(params: Params, system: str, split: str = "test") -> Path:
    """Measure, write the table, and return its path."""
    corpus, decoded = paths.corpus(split), paths.decoded(system, split)
    ids = read_inputs(corpus, decoded, decoded_by(system, params.variants)).ids
    measured = {
        metric.name: measure(params, metric, system, split, len(ids))
        for metric in metrics_of(params, system, split)
    }
    path, names = paths.evaluation(system, split), params.evaluation.metrics
    table = join_metrics(ids, names, {name: found.table for name, found in measured.items()})
    signatures = {name: found.signature for name, found in measured.items()}
    write_table(path, table.to_batches(), table.schema, {"signature": signatures})
    for found in measured.values():
        if found.work:
            found.work.clear()
    return path


def measure(params: Params, metric: Metric, system: str, split: str, number: int) -> Measured:
    """Measure one metric; finished parts are kept until the whole table is written."""
    settings, runtime = getattr(params.evaluation, metric.name), params.runtime
    corpus, decoded = paths.corpus(split), paths.decoded(system, split)
    make = partial(Measurer, metric.name, settings, runtime, corpus, decoded)
    schema, label = evaluation_schema(metric.names), f"{metric.name} {system} {split}"
    if metric.computed_on == "server":
        progress = partial(Progress, interval=runtime.log_seconds)
        rows, said = make(runtime.device, progress=progress)(range(number))
        measured = Measured(pa.Table.from_pylist(rows, schema), join_signatures([said]))
    else:
        # What other code has measured before a kill is not taken over.
        key = fingerprint([settings, code_key()], [corpus, decoded, Path(__file__)])
        units = {split: cut(number, PART)}
        work = Splits(f"evaluate/{metric.name}/{system}/{split}", key, schema, units)
        workers = core_workers(runtime) if metric.computed_on == "cores" else model_workers(runtime)
        work.run(make, workers, label, runtime.log_seconds)
        table = pa.Table.from_batches(work.read(split), schema)
        measured = Measured(table, join_signatures(work.said(split)), work)
    means = [(name, pc.mean(measured.table[name]).as_py()) for name in metric.names]
    shown = ", ".join(f"{name} {mean:.4g}" for name, mean in means if mean is not None)
    say(f"{label}: {shown or 'nothing measured'}")
    return measured


if __name__ == "__main__":
    run_command(main)
