"""The command `brido geval`: G-Eval of a file of summaries, by an LLM judge."""

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np

from brido.cli.shared import output_option
from brido.utils.blank import is_blank, is_missing
from brido.utils.errors import BridoError, parsing, short
from brido.utils.extras import extra
from brido.utils.files import input_lines, read_records
from brido.utils.json_lines import read_objects
from brido.utils.outputs import check_output, output_bytes
from brido.utils.progress import Progress


@click.command("geval")
@click.argument("summaries")
@output_option("A Parquet table for the marks.")
@click.option(
    "--params", type=click.Path(path_type=Path), help="A params.yaml with these settings."
)
@click.option(
    "-S",
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a key of evaluation.geval or runtime.endpoint, such as model=NAME (its section "
    "may stand before it). Repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Print calls, tokens and cost, without asking.")
@click.option("--replay", is_flag=True, help="Use the answers in the store, without asking.")
def command(
    summaries: str,
    output: Path | None,
    params: Path | None,
    changes: tuple[str, ...],
    dry_run: bool,
    replay: bool,
) -> None:
    """Let an LLM judge mark the summaries of a file, and print means with intervals.

    SUMMARIES is a file of JSON lines or Parquet, or - for JSON lines on stdin. It has the columns
    `document` and `summary`, and may have `id` and `system`. The settings are those of
    evaluation.geval and runtime.endpoint in --params, or their defaults.

    \b
    Example:
        brido geval summaries.jsonl -o scores.parquet \\
            -S model=NAME -S base_url=http://localhost:8000/v1
    """
    flags = {name: True for name, is_set in (("dry_run", dry_run), ("replay", replay)) if is_set}
    with extra():
        _mark(summaries, output, *read_settings(params, changes, flags))


def _mark(summaries: str, output: Path | None, settings: Any, runtime: Any) -> None:
    from brido.endpoint import DryRun
    from brido.evaluation.geval.judge import GEval

    check_output(output, [summaries], "Parquet")
    judge = GEval(settings, runtime)
    records = read_summaries(summaries)
    columns = ("document", "summary", "id")
    sources, texts, names = ([record[name] for record in records] for name in columns)
    try:
        evaluation = judge.score(sources, texts, names, Progress)
    except DryRun as forecast:
        click.echo(str(forecast))
        return
    rows = [
        {**record, **row, "detail": json.dumps(detail, ensure_ascii=False)}
        for record, row, detail in zip(records, evaluation.rows, evaluation.details, strict=True)
    ]
    if output is not None:
        _write_table(output, rows, evaluation.signature, summaries)
    print(summary(rows))
    print(f"\nSignature: {json.dumps(evaluation.signature, ensure_ascii=False)}")


def _write_table(
    path: Path, rows: Sequence[dict[str, Any]], signature: dict[str, Any], read: str
) -> None:
    import pyarrow as pa

    from brido.evaluation.geval import METRIC
    from brido.tables import evaluation_schema, write_table

    schema = evaluation_schema(METRIC.names)
    schema = schema.insert(1, pa.field("system", pa.string(), nullable=False))
    chosen = [{name: row[name] for name in schema.names} for row in rows]
    # A device or a link is written to as it is; the writer of tables knows files alone.
    with tempfile.TemporaryDirectory() as folder, output_bytes(path, [read]) as output:
        table = Path(folder, "marks.parquet")
        write_table(table, [chosen], schema, {"signature": signature})
        output.write(table.read_bytes())


def read_settings(
    params: Path | None, changes: Sequence[str], flags: dict[str, bool]
) -> tuple[Any, Any]:
    """GEvalSettings and EndpointRuntime, of a params file or the defaults, with KEY=VALUE changes.

    Raises:
        BridoError: an unknown key, a value of the wrong kind (all of them named).
    """
    from brido.endpoint.settings import EndpointRuntime
    from brido.settings.load import check_params, load_params, read_yaml
    from brido.settings.presets import merge

    if params is not None:
        load_params(params)
    if wrong := [change for change in changes if "=" not in change]:
        # They are not shown: one may be a key of the server.
        raise BridoError(f"{len(wrong)} of the -S are not KEY=VALUE: write -S model=NAME")
    endpoint: dict[str, Any] = dict(flags)
    judge: dict[str, Any] = {}
    for change in changes:
        name, _, text = change.partition("=")
        name = name.removeprefix("evaluation.geval.").removeprefix("runtime.endpoint.")
        section = endpoint if name in EndpointRuntime.model_fields else judge
        section[name] = _parsed(text)
    changed = {"evaluation": {"geval": judge}, "runtime": {"endpoint": endpoint}}
    raw = merge(read_yaml(params) if params else {}, changed)
    checked = check_params(raw, f"{params or 'the command line'} with -S")
    return checked.evaluation.geval, checked.runtime.endpoint


def _parsed(text: str) -> Any:
    """The value of a text in YAML; what cannot be parsed stays a text, which few keys take."""
    from ruamel.yaml import YAML

    with suppress(BridoError), parsing(str):
        return YAML(typ="safe").load(text)
    return text


def read_summaries(file: str | Path) -> list[dict[str, Any]]:
    """The rows of a file, or of stdin (-), with id, system, document and summary, each a text.

    Raises:
        BridoError: a column is missing or not text, or an (id, system) comes twice.
    """
    path = "stdin" if file == "-" else file
    records = []
    if file != "-":
        records = read_records(Path(file))
    else:
        with input_lines("-") as lines:
            for number, record, problem in read_objects(lines):
                if problem:
                    raise BridoError(f"stdin: line {number}: {problem}")
                records.append(record)
    problems = [] if records else ["it has no rows"]
    for number, record in enumerate(records, 1):
        record["id"] = _given(record.get("id"), str(number))
        record["system"] = _given(record.get("system"), "summary")
        for column in ("document", "summary"):
            text = record.get(column)
            # A blank summary has its marks; of a blank document none would mean anything.
            if not isinstance(text, str) or (column == "document" and is_blank(text)):
                name = short(record["id"])
                problems.append(f"row {number} (id {name}): no text in `{column}`")
    twice = Counter((record["id"], record["system"]) for record in records)
    problems += [
        f"id {short(name)} of system {short(system)} comes {count} times: give each row an id of "
        "its own, or leave the ids out"
        for (name, system), count in twice.items()
        if count > 1
    ]
    if problems:
        raise BridoError.from_problems(f"{path} cannot be marked:", problems, limit=10)
    return records


def _given(value: Any, otherwise: str) -> str:
    """A value of the user's as a text; where there is none, pandas has NaN and CSV a blank."""
    return otherwise if value is None or is_missing(str(value)) else str(value)


def summary(rows: Iterable[Mapping[str, Any]]) -> str:
    """A table of means with 95 % bootstrap intervals over documents, a row a system.

    `rows` have id, system and marks; a missing mark counts in no mean. Where there are several
    systems, paired differences of each to the first follow, over the documents that both have.
    """
    from brido.evaluation.geval import METRIC
    from brido.report.metrics import Scores, difference, estimate
    from brido.report.settings import ReportSettings
    from brido.report.summary import every_column, result_table, summary_table

    marks: dict[str, dict[str, list[float | None]]] = {}
    for row in rows:
        marks.setdefault(row["system"], {})[row["id"]] = [row[column] for column in METRIC.names]

    def scores(system: str, ids: Sequence[str]) -> Scores:
        values = np.array([marks[system][name] for name in ids], dtype=np.float64)
        return Scores(list(ids), [(METRIC.name, column) for column in METRIC.names], values, {})

    settings = ReportSettings()
    first, *others = marks
    systems = {name: estimate(scores(name, list(own)), settings) for name, own in marks.items()}
    shared = {name: [key for key in marks[name] if key in marks[first]] for name in others}
    differences = {
        f"{name} - {first}": difference(scores(name, ids), scores(first, ids), settings)
        for name, ids in shared.items()
        if ids
    }
    table = result_table(every_column(systems), systems, differences)
    return summary_table(table, settings.confidence)
