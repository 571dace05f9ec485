"""Mark a file of summaries with an LLM judge.

    python -m brido.evaluation.geval summaries.jsonl --out scores.parquet \\
        -S model=NAME -S base_url=http://localhost:8000/v1

The input (JSON lines or Parquet) has the columns `document` and `summary`, and may have `id` and
`system`. Settings are those of evaluation.geval and runtime.endpoint in params.yaml.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError
from ruamel.yaml import YAML

from brido.config import load_params
from brido.endpoint.settings import EndpointRuntime
from brido.errors import BridoError, parsing, quoted, run_command, short
from brido.evaluation.geval import METRIC
from brido.evaluation.geval.corpus import difference_lines, summary_lines
from brido.evaluation.geval.judge import DryRun, GEval
from brido.evaluation.geval.settings import GEvalSettings
from brido.progress import Progress
from brido.readers import read_records
from brido.tables import evaluation_schema, write_table


def main(arguments: Sequence[str] | None = None) -> None:
    """Mark the summaries of the file named on the command line and write and print the marks."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        prog="python -m brido.evaluation.geval",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("summaries", type=Path)
    parser.add_argument("--out", type=Path, help="Parquet table of marks (default: print only)")
    parser.add_argument("--params", type=Path, help="a params.yaml to take the settings from")
    parser.add_argument("-S", action="append", default=[], metavar="KEY=VALUE", dest="changes",
                        help="a key of evaluation.geval or runtime.endpoint")  # fmt: skip
    parser.add_argument("--device", default="auto", help="for backend transformers")
    parser.add_argument("--dry-run", action="store_true", help="calls, tokens, cost; ask nothing")
    parser.add_argument("--replay", action="store_true", help="answers from the store only")
    options = parser.parse_args(arguments)
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
        schema = evaluation_schema(METRIC.names)
        schema = schema.insert(1, pa.field("system", pa.string(), nullable=False))
        chosen = [{name: row[name] for name in schema.names} for row in rows]
        write_table(options.out, [chosen], schema, {"signature": evaluation.signature})
    print_summary(rows, evaluation.signature)


def read_settings(
    params: Path | None, changes: Sequence[str], flags: dict[str, bool]
) -> tuple[GEvalSettings, EndpointRuntime]:
    """The settings of a params file (or the defaults) with `KEY=VALUE` changes.

    Raises:
        BridoError: an unknown key, a value of the wrong kind (all of them named).
    """
    loaded = load_params(params) if params is not None else None
    settings = loaded.evaluation.geval.model_dump() if loaded else {}
    runtime = loaded.runtime.endpoint.model_dump() if loaded else {}
    runtime |= flags
    problems = []
    for change in changes:
        name, _, text = change.partition("=")
        # The whole change is not shown: somebody may have put a key into it.
        target = settings if name in GEvalSettings.model_fields else runtime
        if name not in {*GEvalSettings.model_fields, *EndpointRuntime.model_fields}:
            known = ", ".join([*GEvalSettings.model_fields, *EndpointRuntime.model_fields])
            problems.append(f"-S {name}: unknown key; known are {known}")
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


def _problems(section: type[GEvalSettings] | type[EndpointRuntime], values: dict) -> list[str]:
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
