"""The paper's tables filled with our runs: which run belongs to which row, what is best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from re import fullmatch
from typing import Any

from brido.report.display import ColumnKey, display
from brido.report.metrics import Estimate, Estimates
from experiments.paper_numbers import ALPHA, ETA, INFINITY, Layout, Row, paper_layouts
from experiments.runs import Run, different_bases, find_base, find_run

# What each dataset of the paper is called in params.yaml.
DATASETS = {"EdinburghNLP/xsum": "xsum", "abisee/cnn_dailymail": "cnndm"}
_COUNT_OF_A_SOURCE = r"generation\.\w+\.num_candidates"
_ETAS = (0.1, 0.3, 1.0, 3.0, 10.0)
# Where the neural metrics were not run, the world's exact checks stand in their columns.
_STAND_INS = {"qafacteval": "world_qa", "geval": "world_judge"}
# Beside every rate: summaries get more faithful merely by getting shorter.
_BESIDE: tuple[ColumnKey, ...] = (("mentions", "unsupported"), ("extractiveness", "length"))


@dataclass(frozen=True)
class FilledCell:
    """A number of ours (with its interval) or of the paper, and how it is set."""

    column: ColumnKey
    estimate: Estimate | None
    best: bool = False
    worst: bool = False


@dataclass(frozen=True)
class FilledRow:
    """A row of a filled table; `ours` is False for the paper's numbers, `run` names our run.

    `base`: which base our run's numbers belong to, "" where nobody knows.
    """

    label: str
    ours: bool
    run: str
    base: str
    cells: tuple[FilledCell, ...]


@dataclass(frozen=True)
class FilledTable:
    """One table ready to print; `notes` stand below it."""

    number: int
    caption: str
    columns: tuple[ColumnKey, ...]
    rows: tuple[FilledRow, ...]
    notes: tuple[str, ...]


def dataset_of(params: Mapping[str, Any]) -> str:
    """ "world", "xsum", "cnndm", or "own" for any other data (flattened params)."""
    source = params.get("data.source")
    if source == "world":
        return "world"
    if source == "hub":
        return DATASETS.get(params.get("data.hub.id", ""), "own")
    return "own"


def layouts_for(params: Mapping[str, Any]) -> tuple[Layout, ...]:
    """The paper's four tables for the data at hand, without the paper's numbers on other data."""
    dataset = dataset_of(params)
    if dataset in DATASETS.values():
        return paper_layouts(dataset)
    counts = [value for key, value in params.items() if fullmatch(_COUNT_OF_A_SOURCE, key)]
    half = sum(counts or [2]) - 1
    reference = Row("reference", "reference", {}, {})
    base = Row("base", "base", {}, {})
    brio = Row("BRIO (α = ∞)", "brio", {ALPHA: INFINITY}, {})
    brido = Row("BRIDO (α = 0)", "tuned", {ALPHA: 0}, {})
    etas = tuple(Row(f"η = {eta:g}", "tuned", {ETA: eta, ALPHA: 0}, {}) for eta in _ETAS)
    alphas = tuple(
        Row(f"α = {'∞' if alpha == INFINITY else alpha}", "tuned", {ALPHA: alpha}, {})
        for alpha in (0, 1, half, INFINITY)
    )
    columns = paper_layouts("xsum")[1].columns
    return (
        Layout(1, "Reference, base and BRIO", (reference, base, brio), columns[3:8], True),
        Layout(2, "BRIDO against its base and BRIO", (base, brio, brido)),
        Layout(3, "Diversity penalty η, α = 0", etas),
        Layout(4, "Weight of the reference α", alphas),
    )


def fill(layout: Layout, runs: Sequence[Run]) -> FilledTable:
    """The layout with the numbers of `runs` (the workspace first) and, below, the paper's."""
    found = [_numbers_of(row, runs) for row in layout.rows]
    ours = [estimates for _, estimates in found]
    columns = _columns(layout.columns, ours)
    paper = [
        {column: Estimate(value, value, value, 0) for column, value in row.paper.items()}
        for row in layout.rows
    ]
    our_cells = _emphasise(columns, [_by_column(estimates) for estimates in ours], layout)
    paper_cells = _emphasise(columns, paper, layout)
    rows = []
    notes = [different_bases([run for run, _ in found if run])]
    for index, (row, (run, _)) in enumerate(zip(layout.rows, found, strict=True)):
        of = (run.name, run.base) if run else ("", "")
        rows.append(FilledRow(row.label, True, *of, our_cells[index]))
        if row.paper:
            rows.append(FilledRow(row.label, False, "", "", paper_cells[index]))
        if run is None:
            notes.append(f"not there: {row.label}: {_wanted(row)}")
    shown = tuple(note for note in notes if note)
    return FilledTable(layout.number, layout.caption, columns, tuple(rows), shown)


def _wanted(row: Row) -> str:
    if not row.overrides:
        return f"no run with a system `{row.system}` on these data"
    changes = ", ".join(f"{key}={value:g}" for key, value in row.overrides.items())
    return f"no run with {changes}"


def _numbers_of(row: Row, runs: Sequence[Run]) -> tuple[Run | None, Estimates]:
    """The run and the estimates that belong in a row; (None, {}) where there are none."""
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
    """The layout's columns, with stand-ins where only these were measured, and length beside."""
    measured = {metric for estimates in ours for metric in estimates}
    columns = []
    for metric, name in wanted:
        stand_in = _STAND_INS.get(metric)
        if metric not in measured and stand_in in measured:
            if any(name in estimates.get(stand_in, {}) for estimates in ours):
                columns.append((stand_in, name))
        else:
            columns.append((metric, name))
    beside = [column for column in _BESIDE if column[0] in measured]
    return (*columns, *beside)


def _by_column(estimates: Estimates) -> dict[ColumnKey, Estimate]:
    return {
        (metric, name): item
        for metric, numbers in estimates.items()
        for name, item in numbers.items()
    }


def _emphasise(
    columns: Sequence[ColumnKey], rows: Sequence[Mapping[ColumnKey, Estimate]], layout: Layout
) -> list[tuple[FilledCell, ...]]:
    """The rows' cells, best and (Table 1) worst marked per column as printed, ties included."""
    best: dict[ColumnKey, str] = {}
    worst: dict[ColumnKey, str] = {}
    for column in columns:
        shown = display(*column)
        values = [row[column].mean for row in rows if column in row]
        if shown.better == "neither" or len(values) < 2:
            continue
        low, high = shown.text(min(values)), shown.text(max(values))
        if low == high:
            continue
        best[column], worst[column] = (high, low) if shown.better == "higher" else (low, high)
    cells = []
    for row in rows:
        line = []
        for column in columns:
            item = row.get(column)
            text = display(*column).text(item.mean) if item else ""
            line.append(
                FilledCell(
                    column,
                    item,
                    bool(item) and text == best.get(column),
                    bool(item) and layout.italic_worst and text == worst.get(column),
                )
            )
        cells.append(tuple(line))
    return cells
