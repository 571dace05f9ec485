"""Which run belongs in which row of the paper's tables, and what no table shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from re import fullmatch

from brido.report.display import ColumnKey, display
from brido.report.metrics import Estimate, Estimates
from brido.utils.errors import BridoError
from experiments.curves import varied
from experiments.grid import FOLDER, dataset_of
from experiments.paper_layouts import (
    ALPHA,
    ETA,
    FACTUAL,
    INFINITY,
    Layout,
    Row,
    alpha_text,
    paper_layouts,
)
from experiments.runs import Run, different_bases, different_keys, find_base, find_run

_COUNT_OF_A_SOURCE = r"generation\.\w+\.num_candidates"
_ETAS = (0.1, 0.3, 1.0, 3.0, 10.0)
# If the neural metrics were not run, the world's exact checks are shown in their columns.
_STAND_INS = {"qafacteval": "world_qa", "geval": "world_judge"}
# Beside every rate: summaries get more faithful merely by getting shorter.
_BESIDE: tuple[ColumnKey, ...] = (("mentions", "unsupported"), ("extractiveness", "length"))


@dataclass(frozen=True)
class Filled:
    """A row of a table: our run's numbers, or the paper's (run None)."""

    label: str
    run: Run | None
    numbers: Mapping[ColumnKey, Estimate]


@dataclass(frozen=True)
class FilledTable:
    """A table with its numbers; missing: the rows for which no run was found."""

    layout: Layout
    columns: tuple[ColumnKey, ...]
    rows: tuple[Filled, ...]
    missing: tuple[Row, ...]

    def marks(self, ours: bool) -> dict[tuple[str, ColumnKey], str]:
        """`best` or (Table 1) `worst` of each column as printed, ties included; by row label."""
        rows = [row for row in self.rows if (row.run is not None) == ours]
        found = {}
        for column in self.columns:
            shown = display(*column)
            values = {row.label: row.numbers[column].mean for row in rows if column in row.numbers}
            if shown.better == "neither" or len(values) < 2:
                continue
            low, high = (shown.text(pick(values.values())) for pick in (min, max))
            if low == high:
                continue
            best, worst = (high, low) if shown.better == "higher" else (low, high)
            for label, value in values.items():
                if shown.text(value) == best:
                    found[label, column] = "best"
                elif shown.text(value) == worst and self.layout.italic_worst:
                    found[label, column] = "worst"
        return found


def layouts_for(runs: Sequence[Run]) -> tuple[Layout, ...]:
    """The four tables for the data of `runs`; without the paper's numbers on other data.

    On other data every alpha and every eta that was run has a row.
    """
    params = runs[0].params
    if dataset_of(params) in ("xsum", "cnndm"):
        return paper_layouts(dataset_of(params))
    counts = [value for key, value in params.items() if fullmatch(_COUNT_OF_A_SOURCE, key)]
    half = sum(counts or [2]) - 1
    base = Row("base", "base", {}, {})
    brio = Row("BRIO (α = ∞)", "brio", {ALPHA: INFINITY}, {})
    first = (Row("reference", "reference", {}, {}), base, brio)
    second = (base, brio, Row("BRIDO (α = 0)", "tuned", {ALPHA: 0}, {}))
    etas = {value for value, _ in varied(runs, ETA, {ALPHA: 0})} | set(_ETAS)
    alphas = {value for value, _ in varied(runs, ALPHA)} | {0, 1, half, INFINITY}
    return (
        Layout(1, "Reference, base and BRIO", first, FACTUAL, True),
        Layout(2, "BRIDO against its base and BRIO", second),
        Layout(
            3,
            "Diversity penalty η, α = 0",
            tuple(Row(f"η = {eta:g}", "tuned", {ETA: eta, ALPHA: 0}, {}) for eta in sorted(etas)),
        ),
        Layout(
            4,
            "Weight of the reference α",
            tuple(
                Row(f"α = {alpha_text(alpha)}", "tuned", {ALPHA: alpha}, {})
                for alpha in sorted(alphas)
            ),
        ),
    )


def fill(layout: Layout, runs: Sequence[Run]) -> FilledTable:
    """The layout with the numbers of `runs` (the workspace first) and, below, the paper's."""
    found = [_numbers_of(row, runs) for row in layout.rows]
    rows: list[Filled] = []
    for row, (run, numbers) in zip(layout.rows, found, strict=True):
        if run is not None:
            rows.append(Filled(row.label, run, _by_column(numbers)))
        if row.paper:
            paper = {key: Estimate(value, value, value, 0) for key, value in row.paper.items()}
            rows.append(Filled(row.label, None, paper))
    columns = _columns(layout.columns, [numbers for _, numbers in found])
    missing = tuple(row for row, (run, _) in zip(layout.rows, found, strict=True) if run is None)
    return FilledTable(layout, columns, tuple(rows), missing)


def _numbers_of(row: Row, runs: Sequence[Run]) -> tuple[Run | None, Estimates]:
    """The run and the numbers that belong in a row; (None, {}) if there are none."""
    base = find_base(runs)
    evaluated = base is not None and row.system == "brio" and "brio" in base.systems
    if row.system in {"reference", "base"} or evaluated:
        run, system = base, row.system
    else:
        run, system = find_run(runs, row.overrides or {ALPHA: INFINITY}), "tuned"
    if run is None or system not in run.systems:
        return None, {}
    return run, run.systems[system]


def _columns(wanted: Sequence[ColumnKey], ours: Sequence[Estimates]) -> tuple[ColumnKey, ...]:
    """The layout's columns, with stand-ins if only these were measured, and length beside."""
    measured = {metric for estimates in ours for metric in estimates}
    columns = []
    for metric, name in wanted:
        stand_in = _STAND_INS.get(metric)
        if metric not in measured and stand_in in measured:
            if any(name in estimates.get(stand_in, {}) for estimates in ours):
                columns.append((stand_in, name))
        else:
            columns.append((metric, name))
    return (*columns, *(column for column in _BESIDE if column[0] in measured))


def _by_column(estimates: Estimates) -> dict[ColumnKey, Estimate]:
    return {
        (metric, name): item
        for metric, numbers in estimates.items()
        for name, item in numbers.items()
    }


def notes(tables: Sequence[FilledTable], runs: Sequence[Run]) -> list[str]:
    """What the tables do not show: rows without a run, runs without a row, different bases."""
    lines = []
    for table in tables:
        if table.missing:
            labels = ", ".join(row.label for row in table.missing)
            lines.append(f"Table {table.layout.number}, not run: {labels}; {_command(table, runs)}")
    shown = {id(row.run) for table in tables for row in table.rows}
    numbers = {table.layout.number for table in tables}
    for run in runs[1:]:
        if numbers == {1, 2, 3, 4} and id(run) not in shown:
            keys = different_keys(runs[0].params, run.params)
            same = "has the workspace's settings"
            reason = run.broken or (f"also differs in {', '.join(keys)}" if keys else same)
            lines.append(f"no row for the run {run.name}: it {reason.removeprefix('it ')}")
    bases = different_bases([row.run for table in tables for row in table.rows if row.run])
    return [*lines, *([bases] if bases else [])]


def _command(table: FilledTable, runs: Sequence[Run]) -> str:
    """The command that fills a table's missing rows."""
    dataset = dataset_of(runs[0].params)
    if {row.system for row in table.missing} <= {"reference", "base"}:
        return "run `dvc repro`"
    grid = "eta" if table.layout.number == 3 else "alpha"
    grid = f"paper-{dataset}" if dataset in ("xsum", "cnndm") else grid
    return f"run `make sweep GRIDS={FOLDER}/{grid}.yaml`"


def filled_tables(runs: Sequence[Run]) -> list[FilledTable]:
    """The four tables filled from `runs`, the workspace first.

    Raises:
        BridoError: no run has numbers, with the reason for each.
    """
    if all(run.broken for run in runs):
        reasons = [f"{run.name}: {run.broken}" for run in runs]
        raise BridoError.from_problems("no run has numbers; `dvc repro` makes them:", reasons)
    return [fill(layout, runs) for layout in layouts_for(runs)]
