"""The paper's Tables 1 to 4, filled with the numbers of your runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import click
import pandas as pd

from brido.report.display import ColumnKey, display, metric_label
from brido.report.metrics import Estimate
from brido.utils.commands import invoke
from brido.utils.errors import BridoError, run_command
from experiments.paper import ALPHA, ETA, NUMBERS, paper_runs, read_yaml
from experiments.runs import Run, different_keys, find_base, find_run, read_runs
from experiments.tables import markdown

# The system that the presets of the paper tune.
TUNED = "vote"
# The paper's data sets as params.yaml names them.
DATASETS = {"EdinburghNLP/xsum": "xsum", "abisee/cnn_dailymail": "cnndm"}
COLUMNS: tuple[ColumnKey, ...] = (
    ("rouge", "r1"), ("rouge", "r2"), ("rouge", "rl"), ("qafacteval", "lerc"),
    ("qafacteval", "f1"), ("qafacteval", "em"), ("qafacteval", "is_answered"),
    ("geval", "consistency"), ("geval", "average"),
)  # fmt: skip
# Shown where they were measured. The world's exact checks stand for the neural metrics; summaries
# get more faithful merely by getting shorter, so their length stands beside.
BESIDE: tuple[ColumnKey, ...] = (
    ("world_qa", "f1"), ("world_judge", "consistency"), ("mentions", "unsupported"),
    ("extractiveness", "length"),
)  # fmt: skip


@dataclass(frozen=True)
class PaperRow:
    """One row of a table: which system, with which settings changed, and the paper's numbers."""

    label: str
    system: str
    changes: Mapping[str, Any]
    paper: Sequence[float | None] = ()


@dataclass(frozen=True)
class PaperTable:
    """One table: its caption and its rows."""

    caption: str
    rows: Sequence[PaperRow]


def dataset_of(params: Mapping[str, Any]) -> str:
    """ "xsum", "cnndm", or "" for other data (flattened params)."""
    is_hub = params.get("data.source") == "hub"
    return DATASETS.get(params.get("data.hub.id", ""), "") if is_hub else ""


def tables_for(runs: Sequence[Run]) -> list[PaperTable]:
    """The four tables for the data of `runs`; without the paper's numbers on other data.

    On other data every alpha and every eta that was run has a row.
    """
    dataset = dataset_of(runs[0].params)
    if dataset:
        paper, settings = read_yaml(NUMBERS)[dataset], paper_runs(dataset)
        main, best = (settings[paper[name]] for name in ("main", "best"))
    else:
        paper, main, best = {"name": "base", "runs": {}}, {ALPHA: 0}, runs[0].params
        settings = {
            run.name: {key: run.params[key] for key in (ETA, ALPHA) if key in run.params}
            for run in runs
            if not run.broken
        }
    tuned = {}
    for name, own in sorted(settings.items(), key=lambda item: _order(item[1])):
        row = PaperRow(_label(own), TUNED, own, paper["runs"].get(name, [])[2:])
        tuned[row.label] = row
    first = [PaperRow(label, system, {}, paper.get(name, ())) for label, system, name in (
        ("reference", "reference", "reference"), (paper["name"], "base", "base"),
        ("BRIO", "brio", "preliminary"),
    )]  # fmt: skip
    chosen = PaperRow(_label(main), TUNED, main, next(
        (row.paper for row in tuned.values() if row.changes == main), ()
    ))  # fmt: skip
    return [
        PaperTable("Table 1. The faults of references and of BRIO", first),
        PaperTable("Table 2. BRIDO against its base and BRIO",
              [first[1], PaperRow("BRIO", "brio", {}, paper.get("brio", ())), chosen]),
        PaperTable("Table 3. Diversity penalty η, α = 0",
              [row for row in tuned.values() if row.changes[ALPHA] == 0]),
        PaperTable("Table 4. Weight of the reference α",
              [row for row in tuned.values() if row.changes.get(ETA) == best.get(ETA)]),
    ]  # fmt: skip


def _order(changes: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(float(changes.get(key, 0)) for key in (ETA, ALPHA))


def _label(changes: Mapping[str, Any]) -> str:
    names = {ETA: "η", ALPHA: "α"}
    values = {key: "∞" if value == inf else f"{value:g}" for key, value in changes.items()}
    return f"BRIDO {', '.join(f'{names[key]} = {value}' for key, value in values.items())}"


def run_of(row: PaperRow, runs: Sequence[Run]) -> tuple[Run, str] | None:
    """The run of a row and the system of it whose numbers are shown; None if there is none."""
    base, system = find_base(runs), row.system
    evaluated = base is not None and row.system == "brio" and "brio" in base.systems
    run = base
    if row.system == TUNED or (row.system == "brio" and not evaluated):
        # Without BRIO's own checkpoint its method: the references' order.
        run, system = find_run(runs, row.changes or {ALPHA: inf}), TUNED
    return (run, system) if run is not None and system in run.systems else None


def filled(table: PaperTable, runs: Sequence[Run]) -> pd.DataFrame:
    """The table's cells as text: a row for each of our runs and, below it, the paper's numbers."""
    records: list[dict[str, str]] = []
    for row in table.rows:
        if found := run_of(row, runs):
            run, system = found
            cells = {key: _text(run.systems[system].get(key[0], {}).get(key[1]), key)
                     for key in (*COLUMNS, *BESIDE)}  # fmt: skip
            records.append({"": row.label} | {_heading(key): text for key, text in cells.items()})
        numbers = dict(zip(COLUMNS, row.paper, strict=False))
        cells = {key: display(*key).text(value) for key, value in numbers.items()
                 if value is not None}  # fmt: skip
        if cells:
            label = {"": f"paper: {row.label}"}
            records.append(label | {_heading(key): text for key, text in cells.items()})
    frame = pd.DataFrame(records).fillna("")
    return frame.loc[:, (frame != "").any()] if len(frame) else frame


def _heading(key: ColumnKey) -> str:
    """A column's name, with the metric's if it is not the paper's."""
    label = display(*key).label.removeprefix("QA ")
    return label if key in COLUMNS else f"{metric_label(key[0])}: {label}"


def _text(item: Estimate | None, key: ColumnKey) -> str:
    shown = display(*key)
    return f"{shown.text(item.mean)} [{'…'.join(shown.ends(item.low, item.high))}]" if item else ""


def notes(tables: Sequence[PaperTable], runs: Sequence[Run]) -> Iterator[str]:
    """What the tables do not show: rows without a run, and runs without a row."""
    shown = set()
    for table in tables:
        missing = [row.label for row in table.rows if not run_of(row, runs)]
        if missing:
            yield f"{table.caption.partition('.')[0]}, not run: {', '.join(missing)}"
        shown |= {found[0].name for row in table.rows if (found := run_of(row, runs))}
    for run in runs[1:]:
        keys = ", ".join(different_keys(runs[0].params, run.params))
        if run.name not in shown and (run.broken or keys):
            yield f"no row for the run {run.name}: {run.broken or f'it also differs in {keys}'}"


@click.command()
@click.option("--tex", is_flag=True, help="LaTeX with booktabs")
def command(tex: bool) -> None:
    """Print the paper's tables with the numbers of your runs.

    The runs are the workspace and every experiment of `dvc exp show`. A run belongs in a row if
    its settings are the workspace's but for the row's own alpha and eta. On the paper's data its
    own numbers are shown below yours; `make paper` prints the commands of its runs.

    \b
    Example:
        python -m experiments.paper_tables --tex > tables.tex
    """
    runs = read_runs()
    if all(run.broken for run in runs):
        reasons = [f"{run.name}: {run.broken}" for run in runs]
        raise BridoError.from_problems("no run has numbers; `dvc repro` makes them:", reasons)
    tables = tables_for(runs)
    for table in tables:
        if len(frame := filled(table, runs)):
            caption = table.caption.partition(". ")[2]
            text = frame.to_latex(index=False, escape=True, caption=caption)
            plain = f"{table.caption}\n\n{markdown(frame.to_dict('records'))}\n"
            click.echo(text if tex else plain)
    for note in notes(tables, runs):
        click.echo(note, err=True)


if __name__ == "__main__":
    run_command(lambda: invoke(command, program="python -m experiments.paper_tables"))
