"""Mark a file of summaries with an LLM judge.

    brido judge summaries.jsonl --out scores.parquet \\
        -S model=NAME -S base_url=http://localhost:8000/v1

The input (JSON lines or Parquet) has the columns `document` and `summary`, and may have `id` and
`system`. Settings are those of evaluation.geval and runtime.endpoint in params.yaml.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brido.utils.errors import BridoError, parsing, quoted, run_command, short
from brido.utils.extras import extra
from brido.utils.files import read_records
from brido.utils.progress import Progress

if TYPE_CHECKING:
    from brido.endpoint.settings import EndpointRuntime
    from brido.evaluation import Evaluation
    from brido.evaluation.geval.settings import GEvalSettings

PROGRAM = "python -m brido.evaluation.geval"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("summaries", type=Path, help="JSON lines or Parquet")
    parser.add_argument("--out", type=Path, help="Parquet table of marks (default: print only)")
    parser.add_argument("--params", type=Path, help="a params.yaml to take the settings from")
    parser.add_argument("-S", action="append", default=[], metavar="KEY=VALUE", dest="changes",
                        help="a key of evaluation.geval or runtime.endpoint, by its own name: "
                        "-S model=NAME -S input_price=2.5")  # fmt: skip
    parser.add_argument("--device", default="auto", help="for backend transformers")
    parser.add_argument("--dry-run", action="store_true", help="calls, tokens, cost; ask nothing")
    parser.add_argument("--replay", action="store_true", help="answers from the store only")
    return parser


def main(arguments: Sequence[str] | None = None, program: str = PROGRAM) -> None:
    """Mark the summaries of the file named on the command line and write and print the marks."""
    options = parser(program).parse_args(arguments)
    with extra("judge"):
        _mark(options)


def _mark(options: argparse.Namespace) -> None:
    from brido.evaluation.geval.judge import DryRun, GEval

    flags = {name: True for name in ("dry_run", "replay") if getattr(options, name)}
    settings, runtime = read_settings(options.params, options.changes, flags)
    judge = GEval(settings, runtime, options.device)
    records = read_summaries(options.summaries)
    try:
        evaluation = judge.score(
            [record["document"] for record in records],
            [record["summary"] for record in records],
            [record["id"] for record in records],
            Progress,
        )
    except DryRun as forecast:
        print(forecast)
        return
    rows = [
        {**record, **row, "detail": json.dumps(detail, ensure_ascii=False)}
        for record, row, detail in zip(records, evaluation.rows, evaluation.details, strict=True)
    ]
    if options.out is not None:
        _write_table(options.out, rows, evaluation)
    print_summary(rows, evaluation.signature)


def _write_table(path: Path, rows: Sequence[dict[str, Any]], evaluation: "Evaluation") -> None:
    import pyarrow as pa

    from brido.evaluation.geval import METRIC
    from brido.tables import evaluation_schema, write_table

    schema = evaluation_schema(METRIC.names)
    schema = schema.insert(1, pa.field("system", pa.string(), nullable=False))
    chosen = [{name: row[name] for name in schema.names} for row in rows]
    write_table(path, [chosen], schema, {"signature": evaluation.signature})


def read_settings(
    params: Path | None, changes: Sequence[str], flags: dict[str, bool]
) -> tuple["GEvalSettings", "EndpointRuntime"]:
    """The settings of a params file (or the defaults) with `KEY=VALUE` changes.

    Raises:
        BridoError: an unknown key, a value of the wrong kind (all of them named).
    """
    from ruamel.yaml import YAML

    from brido.endpoint.settings import EndpointRuntime
    from brido.evaluation.geval.settings import GEvalSettings

    settings, runtime = _of_a_file(params) if params is not None else ({}, {})
    runtime |= flags
    problems = []
    for change in changes:
        name, given, text = change.partition("=")
        # The whole change is not shown: somebody may have put a key into it.
        target = settings if name in GEvalSettings.model_fields else runtime
        if name not in {*GEvalSettings.model_fields, *EndpointRuntime.model_fields}:
            known = ", ".join([*GEvalSettings.model_fields, *EndpointRuntime.model_fields])
            problems.append(f"-S {name}: unknown key; known are {known}")
            continue
        if not given:
            problems.append(f"-S {name}: a value is missing, -S {name}=VALUE")
            continue
        try:
            with parsing("{}".format):
                target[name] = YAML(typ="safe").load(text)
        except BridoError:
            problems.append(f"-S {name}: the value is no YAML")
    for section in ((GEvalSettings, settings), (EndpointRuntime, runtime)):
        problems += _problems(*section)
    if problems:
        raise BridoError.from_problems("settings of the judge:", problems)
    return GEvalSettings.model_validate(settings), EndpointRuntime.model_validate(runtime)


def _of_a_file(params: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """evaluation.geval and runtime.endpoint of a params.yaml."""
    from brido.settings.load import load_params

    loaded = load_params(params)
    return loaded.evaluation.geval.model_dump(), loaded.runtime.endpoint.model_dump()


def _problems(
    section: "type[GEvalSettings] | type[EndpointRuntime]", values: dict[str, Any]
) -> list[str]:
    from pydantic import ValidationError

    try:
        section.model_validate(values)
    except ValidationError as error:
        return [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
    return []


def read_summaries(path: Path) -> list[dict[str, Any]]:
    """The rows of the input with id, system, document and summary, each a text.

    Raises:
        BridoError: a column is missing or no text, or an (id, system) comes twice.
    """
    records = read_records(path)
    problems = []
    for number, record in enumerate(records):
        record["id"] = str(record.get("id", number))
        record["system"] = str(record.get("system") or "summary")
        for column in ("document", "summary"):
            if not isinstance(record.get(column), str):
                problems.append(f"row {number} (id {short(record['id'])}): no text in `{column}`")
    twice = Counter((record["id"], record["system"]) for record in records)
    problems += [f"{quoted(key)} comes {count} times" for key, count in twice.items() if count > 1]
    if not records:
        problems.append("it holds no rows")
    if problems:
        raise BridoError.from_problems(f"{path} cannot be marked:", problems, limit=10)
    return records


def print_summary(rows: Sequence[dict[str, Any]], signature: dict[str, Any]) -> None:
    """Print means and differences of the systems, and the signature."""
    from brido.evaluation.geval.corpus import difference_lines, summary_lines

    systems: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        systems.setdefault(row["system"], []).append(row)
    print("\n".join(summary_lines(systems)))
    if len(systems) > 1:
        print("\nPaired differences:")
        named = {name: ([row["id"] for row in group], group) for name, group in systems.items()}
        print("\n".join(difference_lines(named)))
    print(f"\nSignature: {json.dumps(signature, ensure_ascii=False)}")


if __name__ == "__main__":
    run_command(main)
