"""Stage evaluate: one metric on one system's summaries, of test documents at least.

    python -m stages.evaluate METRIC SYSTEM
    python -m stages.evaluate METRIC --dry-run

It reads data/corpus/SPLIT.parquet and data/decoded/SYSTEM/SPLIT.parquet, and writes
data/evaluation/METRIC/SYSTEM/SPLIT.parquet: a row per document. What stage choose compares is
measured on validation documents too. --dry-run says what a metric that asks a server would take for
all systems together, and asks nothing.
"""

import sys
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from brido.endpoint import DryRun
from brido.evaluation.parts import PART, Measurer, column_means, join_signatures, read_inputs
from brido.evaluation.registry import find_metric
from brido.settings.load import load_params
from brido.settings.params import Params
from brido.tables import evaluation_schema, write_table
from brido.tables.join import decoded_by
from brido.tables.walk import cut
from brido.utils.errors import BridoError, run_command
from brido.utils.progress import Progress, say
from brido.work.kept import code_key
from brido.work.running import Splits
from brido.work.shards import fingerprint
from brido.work.worker import core_workers, model_workers
from stages import paths


def main() -> None:
    """Evaluate the metric and the system that the command line names."""
    if len(sys.argv) != 3:
        raise BridoError("usage: python -m stages.evaluate METRIC SYSTEM, or METRIC --dry-run")
    name, system = sys.argv[1:]
    if system == "--dry-run":
        print(forecast(load_params(), name))
        return
    params = load_params()
    if system == "base":
        paths.check_base(f"evaluate {name} base")
    for split in splits_of(params, name, system):
        evaluate(params, name, system, split)


def splits_of(params: Params, name: str, system: str) -> list[str]:
    """The splits on which a metric of a system is measured: validation where stage choose asks."""
    by = (params.choice.by or "").partition(".")[0]
    chooses = system in params.choosable and (find_metric(name).chooses or name == by)
    return ["test", "validation"] if chooses else ["test"]


def evaluate(params: Params, name: str, system: str, split: str = "test") -> Path:
    """Measure, write the table, and return its path."""
    metric = find_metric(name)
    corpus, decoded, made_by = _tables(params, system, split)
    number = len(read_inputs(corpus, decoded, made_by).ids)
    settings, runtime = getattr(params.evaluation, name), params.runtime
    make = partial(Measurer, name, settings, runtime, corpus, decoded)
    path, schema = paths.evaluation(name, system, split), evaluation_schema(metric.names)
    label = f"{name} {system} {split}"
    if metric.whole:
        progress = partial(Progress, interval=runtime.log_seconds)
        try:
            rows, said = make(runtime.device, progress=progress)(range(number))
        except DryRun as found:
            raise DryRun(
                f"runtime.endpoint.dry_run: nothing was asked, so there is no table of {system}. "
                f"`python -m stages.evaluate {name} --dry-run` counts all systems; this one:\n"
                f"{found}"
            ) from None
        write_table(path, [rows], schema, {"signature": join_signatures([said])})
    else:
        # What other code has measured before a kill is not taken over.
        key = fingerprint([settings, code_key()], [corpus, decoded, Path(__file__)])
        units = {split: cut(number, PART)}
        work = Splits(f"evaluate/{name}/{system}/{split}", key, schema, units)
        workers = model_workers(runtime) if metric.needs_runtime else core_workers(runtime, False)
        work.run(make, workers, label, runtime.log_seconds)
        work.write(split, path, {"signature": join_signatures(work.said(split))})
        work.clear()
    means = column_means(path, metric.names)
    shown = ", ".join(f"{column} {mean:.4g}" for column, mean in means.items())
    say(f"{label}: {shown or 'nothing measured'}")
    return path


def forecast(params: Params, name: str) -> str:
    """What asking for the metric of all systems would still take, one sum; nothing is asked."""
    metric = find_metric(name)
    if not metric.whole:
        raise BridoError(f"{name} does not ask a server: there is nothing to count")
    systems = params.all_systems
    tables = [
        read_inputs(*_tables(params, system, split))
        for system in systems
        for split in splits_of(params, name, system)
    ]
    columns = ("ids", "documents", "summaries", "references")
    joined = {key: [*chain(*(getattr(table, key) for table in tables))] for key in columns}
    inputs = replace(tables[0], **joined, facts=None)
    endpoint = params.runtime.endpoint.model_copy(update={"dry_run": True, "replay": False})
    runtime = params.runtime.model_copy(update={"endpoint": endpoint})
    try:
        metric.measure(inputs, getattr(params.evaluation, name), runtime=runtime)
    except DryRun as found:
        return f"{name} of {', '.join(systems)}:\n{found}"
    raise BridoError(f"{name} has no dry run: there is nothing to count")


def _tables(params: Params, system: str, split: str) -> tuple[Path, Path, str]:
    return paths.corpus(split), paths.decoded(system, split), decoded_by(system, params.variants)


if __name__ == "__main__":
    run_command(main)
