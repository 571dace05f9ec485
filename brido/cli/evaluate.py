"""A metric of a file of summaries: `brido evaluate rouge summaries.jsonl`."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from brido.cli.rows import good_rows
from brido.cli.shared import Function, max_bad_option, output_options
from brido.utils.errors import BridoError
from brido.utils.outputs import STDOUT, check_output, json_line, output_text
from brido.utils.progress import Progress, say
from brido.utils.rows import kind


def metric_options(function: Function) -> Function:
    """Add METRIC, FILE and the options of its settings."""
    dry = click.option("--dry-run", is_flag=True, help="Count calls and cost; send no request.")
    change = click.option(
        "-S",
        "--set",
        "changes",
        multiple=True,
        metavar="KEY=VALUE",
        help="Change a key of evaluation.METRIC or runtime. A name alone is a key of the metric, "
        "else of runtime.endpoint. Repeatable.",
    )
    file, metric = click.argument("file", default="-"), click.argument("metric")
    return metric(file(change(dry(function))))


@click.command("evaluate")
@metric_options
@max_bad_option
@output_options("Also write a line for each row (.jsonl; -: stdout).")
def command(
    metric: str, file: str, changes: tuple[str, ...], dry_run: bool,
    max_bad: float, output: Path | None, force: bool,
) -> None:  # fmt: skip
    """Measure the summaries in FILE (default: stdin) by METRIC, and print means with intervals.

    METRIC is a name of evaluation.metrics in params.yaml: rouge, mentions, extractiveness,
    minicheck, qafacteval, geval (docs/metrics.md). Each row of FILE has `document` and `summary`,
    and may have `id`, and `reference` or `references` (a list). --output gets a line for each row,
    with what its numbers rest on as `detail`; with `-o -` the means go to stderr.

    \b
    Example:
        brido evaluate geval summaries.jsonl -S model=NAME -S base_url=http://localhost:8000/v1
    """
    from brido.endpoint import DryRun
    from brido.evaluation.registry import find_metric

    check_output(output, force)
    declared = find_metric(metric)
    settings, runtime = read_settings(metric, changes, dry_run)
    inputs = read_inputs(file, max_bad)
    try:
        found = declared.measure(inputs, settings, Progress, runtime)
    except DryRun as forecast:
        click.echo(str(forecast))
        return
    if output is not None:
        with output_text(output) as text:
            for name, row, detail in zip(inputs.ids, found.rows, found.details, strict=True):
                text.write(json_line({"id": name, **row, "detail": detail}))
    tell = say if output == STDOUT else click.echo
    tell(means_table(declared, found.rows))
    tell(f"signature: {json.dumps(found.signature, ensure_ascii=False)}")


def read_settings(metric: str, changes: Sequence[str], dry_run: bool = False) -> tuple[Any, Any]:
    """The metric's section and section runtime: the defaults with KEY=VALUE changes.

    Raises:
        BridoError: an unknown key, a value of the wrong kind (all of them named), or a dry run of a
            metric that asks no server.
    """
    from brido.endpoint.settings import EndpointRuntime
    from brido.evaluation.registry import find_metric
    from brido.settings.load import check_params
    from brido.settings.presets import merge

    declared = find_metric(metric)
    if dry_run and declared.computed_on != "server":
        raise BridoError(f"--dry-run: {metric} asks no server, so there is nothing to count")
    own = declared.settings.model_fields
    raw: dict[str, Any] = {}
    for change in [*changes, *["dry_run=true"] * dry_run]:
        name, equals, value = change.partition("=")
        if not equals:  # it is not shown: it may be a key of the server
            raise BridoError("-S needs KEY=VALUE: write -S model=NAME")
        if not name.startswith(("evaluation.", "runtime.")):
            first = name.partition(".")[0]
            is_of_server = first in EndpointRuntime.model_fields and first not in own
            name = f"{'runtime.endpoint' if is_of_server else f'evaluation.{metric}'}.{name}"
        changed: Any = value
        with suppress(YAMLError, ValueError):  # it stays a text, which few keys take
            changed = YAML(typ="safe").load(value)
        for part in reversed(name.split(".")):
            changed = {part: changed}
        raw = merge(raw, changed)
    checked = check_params(raw, "the command line with -S")
    return getattr(checked.evaluation, metric), checked.runtime


def read_inputs(file: str, max_bad: float = 0.0) -> Any:
    """The documents, summaries and references of a file or of stdin (-), as a metric sees them.

    A document that is a list of sentences is joined; a row without `id` gets its number.

    Raises:
        BridoError: the file cannot be read, or more rows are bad than `max_bad` allows.
    """
    from brido.corpus.checks import document_fault, joined
    from brido.evaluation import Inputs

    def fault(row: dict[str, Any]) -> str:
        # A blank summary has its numbers; of a blank document none would mean anything.
        if not isinstance(summary := joined(row.get("summary")), str):
            return f"`summary` is {kind(summary)}, not a text"
        if not all(isinstance(text, str) for text in _references(row)):
            return "`references` must be a list of texts, `reference` a text"
        return document_fault("`document`", joined(row.get("document")))

    with good_rows(file, fault, max_bad, "evaluate", named=True) as rows:
        found = [
            (row["id"], joined(row["document"]), joined(row["summary"]), _references(row))
            for row in rows
        ]
    return Inputs(*map(list, zip(*found, strict=True)))


def _references(row: dict[str, Any]) -> list[Any]:
    several, one = row.get("references"), row.get("reference")
    if several is None:
        return [] if one is None else [one]
    return several if isinstance(several, list) else [None]


def means_table(metric: Any, rows: Sequence[dict[str, float | None]]) -> str:
    """The mean of each column with its 95 % bootstrap interval over documents, a line each.

    A missing number counts in no mean; fewer than `brido.stats.FEWEST` numbers have no interval.
    """
    from brido.report.metrics import Scores, estimate
    from brido.report.settings import ReportSettings
    from brido.stats import FEWEST

    values = np.array([[row[name] for name in metric.names] for row in rows], np.float64)
    keys = [(metric.name, name) for name in metric.names]
    found = estimate(Scores([], keys, values, {}), ReportSettings()).get(metric.name, {})
    width = max(len(column.heading) for column in metric.columns)
    lines = [f"{metric.label}, means with 95 % intervals"]
    for column in metric.columns:
        shown = "not measured"
        if item := found.get(column.name):
            ends = "…".join(column.ends(item.low, item.high))
            interval = f" ({ends})" if item.documents >= FEWEST else ""
            noun = "document" if item.documents == 1 else "documents"
            shown = f"{column.text(item.mean)}{interval}, {item.documents:,} {noun}"
        lines.append(f"{column.heading:<{width}}  {shown}")
    return "\n".join(lines)
