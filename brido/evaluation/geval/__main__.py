"""The command `brido judge`: mark a file of summaries with an LLM judge."""

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from brido.stats import bootstrap_interval, means
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, parsing, quoted, run_command, short
from brido.utils.extras import extra
from brido.utils.files import read_records
from brido.utils.json_lines import parse_object
from brido.utils.outputs import check_output, output_bytes, standard_input
from brido.utils.progress import Progress


@click.command("judge", short_help="G-Eval by an LLM judge")
@click.argument("summaries")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="A Parquet table for the marks."
)
@click.option(
    "--params", type=click.Path(path_type=Path), help="A params.yaml with these settings."
)
@click.option(
    "-S",
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a key of evaluation.geval or runtime.endpoint, such as model=NAME. Repeatable.",
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
        brido judge summaries.jsonl -o scores.parquet \\
            -S model=NAME -S base_url=http://localhost:8000/v1
    """
    flags = {name: True for name, is_set in (("dry_run", dry_run), ("replay", replay)) if is_set}
    with extra("judge"):
        _mark(summaries, output, *read_settings(params, changes, flags))


def _mark(summaries: str, output: Path | None, settings: Any, runtime: Any) -> None:
    from brido.endpoint import DryRun
    from brido.evaluation.geval.judge import GEval

    check_output(output, [summaries])
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
    print("\n".join(summary_lines(rows)))
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
    from pydantic import ValidationError

    from brido.endpoint.settings import EndpointRuntime
    from brido.evaluation.geval.settings import GEvalSettings
    from brido.utils.sections import Section

    values: dict[type[Section], dict[str, Any]] = {GEvalSettings: {}, EndpointRuntime: {}}
    if params is not None:
        from brido.settings.load import load_params

        loaded = load_params(params)
        values[GEvalSettings] = loaded.evaluation.geval.model_dump()
        values[EndpointRuntime] = loaded.runtime.endpoint.model_dump()
    values[EndpointRuntime] |= flags
    owners = {name: section for section in values for name in section.model_fields}
    problems = []
    for change in changes:
        name, given, text = change.partition("=")
        # The whole change is not shown: it may be a key.
        if name not in owners:
            problems.append(f"-S {name}: unknown key; known are {', '.join(owners)}")
        elif not given:
            problems.append(f"-S {name}: a value is missing, -S {name}=VALUE")
        else:
            try:
                values[owners[name]][name] = _parsed(text)
            except BridoError:
                problems.append(f"-S {name}: the value is not YAML")
    made = []
    for section, chosen in values.items():
        try:
            made.append(section.model_validate(chosen))
        except ValidationError as error:
            problems += [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
    if problems:
        raise BridoError.from_problems("settings of the judge:", problems)
    return made[0], made[1]


def _parsed(text: str) -> Any:
    from ruamel.yaml import YAML

    with parsing(str):
        return YAML(typ="safe").load(text)


def read_summaries(file: str | Path) -> list[dict[str, Any]]:
    """The rows of a file, or of stdin (-), with id, system, document and summary, each a text.

    Raises:
        BridoError: a column is missing or not text, or an (id, system) comes twice.
    """
    path = "stdin" if file == "-" else file
    if file == "-":
        records = [parse_object(line) for line in standard_input() if line.strip()]
    else:
        records = read_records(Path(file))
    problems = []
    for number, record in enumerate(records):
        name = record.get("id")
        record["id"] = str(number if name is None else name)
        record["system"] = str(record.get("system") or "summary")
        for column in ("document", "summary"):
            if not isinstance(record.get(column), str):
                problems.append(f"row {number} (id {short(record['id'])}): no text in `{column}`")
    twice = Counter((record["id"], record["system"]) for record in records)
    problems += [f"{quoted(key)} comes {count} times" for key, count in twice.items() if count > 1]
    if not records:
        problems.append("it has no rows")
    if problems:
        raise BridoError.from_problems(f"{path} cannot be marked:", problems, limit=10)
    return records


def summary_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A table of means with 95 % bootstrap intervals over documents, a line per system and mark.

    `rows` have id, system and marks. A missing mark counts in no mean, and `n` says how many
    documents have one. Where there are several systems, paired differences of each to the first
    follow, over the documents that both have marks for.
    """
    from brido.evaluation.geval import METRIC

    systems: dict[str, dict[str, Any]] = {}
    for row in rows:
        marks = np.array([row[column] for column in METRIC.names], dtype=np.float64)
        systems.setdefault(row["system"], {})[row["id"]] = marks
    yield f"{'system':<16} {'':<20} {'mean':>7} {'95 % interval':>18} {'n':>7}"
    for system, by_id in systems.items():
        yield from _lines(system, METRIC.names, list(by_id.values()))
    (first, base), *others = systems.items()
    if others:
        yield "\nPaired differences:"
    for system, by_id in others:
        differences = [marks - base[name] for name, marks in by_id.items() if name in base]
        yield from _lines(f"{system} - {first}", METRIC.names, differences)


def _lines(system: str, columns: Sequence[str], marks: Sequence[Any]) -> Iterator[str]:
    if not marks:
        return
    values = np.array(marks)
    lows, highs = bootstrap_interval(values, samples=1000, confidence=0.95, seed=0)
    counts = (~np.isnan(values)).sum(axis=0)
    for column, mean, low, high, count in zip(
        columns, means(values), lows, highs, counts, strict=True
    ):
        if count:
            interval = f"[{low:.3f}, {high:.3f}]"
            yield f"{system:<16} {column:<20} {mean:>7.3f} {interval:>18} {count:>7,}"


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m brido.evaluation.geval"))
