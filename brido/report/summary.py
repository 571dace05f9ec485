"""Tables of results: a row a system, then a row a difference; for the terminal, page and card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby

from brido.report.display import DIRECTIONS, ColumnKey, display, known_columns, metric_label
from brido.report.metrics import Estimate, Estimates


def headline_columns(systems: Mapping[str, Estimates]) -> list[ColumnKey]:
    """Return the (metric, submetric) pairs of the short table that at least one system has.

    What should be low comes first: it is what the vote is for, and is seen on a narrow screen.
    """
    shown = [column for column in every_column(systems) if display(*column).headline]
    return sorted(shown, key=lambda column: display(*column).better != "lower")


def every_column(systems: Mapping[str, Estimates]) -> list[ColumnKey]:
    """Every (metric, submetric) pair that at least one system has, known ones first."""
    found = {
        (metric, name): None
        for estimates in systems.values()
        for metric, numbers in estimates.items()
        for name in numbers
    }
    known = {column: index for index, column in enumerate(known_columns())}
    return sorted(found, key=lambda column: known.get(column, len(known)))


@dataclass(frozen=True)
class Cell:
    """One number as text, with the ends of its interval.

    tone: "better" or "worse" for a difference whose interval leaves out 0, "best" for the best of
    the model systems, else "". star: the interval of a difference leaves out 0.
    """

    value: str
    low: str = ""
    high: str = ""
    tone: str = ""
    star: bool = False

    @property
    def interval(self) -> str:
        """The interval as `low…high`."""
        return f"{self.low}…{self.high}" if self.low else ""


@dataclass(frozen=True)
class ResultTable:
    """Rows of cells, a cell a column; `labels` are the metrics' names, a name a column."""

    columns: Sequence[ColumnKey]
    labels: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    differences: Sequence[tuple[str, Sequence[Cell]]] = ()

    @property
    def heads(self) -> list[tuple[str, str, str]]:
        """Each column's name with its unit, an arrow towards the better numbers, and its words."""
        shown = [display(*column) for column in self.columns]
        return [(column.heading, *DIRECTIONS[column.better]) for column in shown]

    @property
    def headings(self) -> list[str]:
        """Each column's name with its unit and its arrow."""
        return [f"{name} {arrow}".rstrip() for name, arrow, _ in self.heads]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The metrics' names, each with the number of neighbouring columns that it heads."""
        return [(name, len(list(same))) for name, same in groupby(self.labels)]


def result_table(
    columns: Sequence[ColumnKey],
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
    voting: str = "",
) -> ResultTable:
    """Return the table of `columns`; `voting` is the checker that also voted, which is marked."""
    best = {column: _best(column, systems) for column in columns}
    return ResultTable(
        columns,
        [metric_label(metric, voting) for metric, _ in columns],
        [
            (name, [_cell(estimates, column, name in best[column]) for column in columns])
            for name, estimates in systems.items()
        ],
        [
            (name, [_difference(estimates, column) for column in columns])
            for name, estimates in differences.items()
        ],
    )


def _best(column: ColumnKey, systems: Mapping[str, Estimates]) -> set[str]:
    """Return the model systems with the best mean; the reference does not compete."""
    better = display(*column).better
    found = {
        name: item
        for name, estimates in systems.items()
        if name != "reference" and (item := item_of(estimates, column)) is not None
    }
    if better == "neither" or len(found) < 2:
        return set()
    pick = max if better == "higher" else min
    top = pick(item.mean for item in found.values())
    return {name for name, item in found.items() if item.mean == top}


def item_of(estimates: Estimates, column: ColumnKey) -> Estimate | None:
    """The estimate of a column, None where it was not measured."""
    return estimates.get(column[0], {}).get(column[1])


def _cell(estimates: Estimates, column: ColumnKey, best: bool) -> Cell:
    item = item_of(estimates, column)
    if item is None:
        return Cell("–")
    shown = display(*column)
    low, high = shown.ends(item.low, item.high)
    return Cell(shown.text(item.mean), low, high, "best" if best else "")


def _difference(estimates: Estimates, column: ColumnKey) -> Cell:
    item = item_of(estimates, column)
    if item is None:
        return Cell("–")
    shown, side, tone = display(*column), direction(item, *column), ""
    if side and shown.better != "neither":
        tone = "better" if side > 0 else "worse"
    low, high = shown.ends(item.low, item.high, signed=True)
    return Cell(shown.text(item.mean, True), low, high, tone, side != 0)


def direction(item: Estimate, metric: str, submetric: str) -> int:
    """The side of zero on which the whole interval lies as it is printed: 1, -1, or 0 for neither.

    1 means better: more, or less where less is better.
    """
    shown = display(metric, submetric)
    low, high = map(float, shown.ends(item.low, item.high))
    side = (low > 0) - (high < 0)
    return -side if shown.better == "lower" else side


def summary_table(table: ResultTable, confidence: float, voting: str = "") -> str:
    """Return the table as plain text: each mean above its interval.

    A difference whose interval leaves out 0 has a star, the metric `voting`, which also voted, a
    dagger.
    """
    # A metric's name stands over the first of its columns.
    labels = [text for name, count in table.groups for text in (name, *[""] * (count - 1))]
    heading = ["\n".join(texts) for texts in zip(labels, table.headings, strict=True)]
    parts = [
        [
            [name, *(f"{cell.value}{'*' * cell.star}\n{cell.interval}" for cell in cells)]
            for name, cells in rows
        ]
        for rows in (table.rows, table.differences)
    ]
    note = f"Below each mean: its {100 * confidence:g}% bootstrap interval over documents"
    if table.differences:
        note += "; * the interval of a paired difference leaves out 0"
    if any("†" in label for label in table.labels):
        note += f"; † {voting_note(voting)}"
    return "\n".join([aligned([["", *heading], *parts[0]], *filter(None, parts[1:])), note])


def aligned(*parts: Sequence[Sequence[str]]) -> str:
    """Lay rows out as plain text: the first column to the left, the others to the right.

    The first row of the first part is the heading; a rule stands between the parts. Cells may have
    several lines.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.HORIZONTALS, show_edge=False, pad_edge=False, header_style="")
    for index, heading in enumerate(parts[0][0]):
        table.add_column(Text(heading), justify="right" if index else "left", no_wrap=True)
    for number, rows in enumerate(parts):
        for row in rows[1:] if number == 0 else rows:
            table.add_row(*map(Text, row))
        table.add_section()
    written = StringIO()
    Console(file=written, width=10_000, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def voting_note(voting: str) -> str:
    """What the dagger means."""
    return f"{voting} also voted (scoring.support): it prefers what it helped to choose"


def length_warning(lengths: Mapping[str, Estimate], name: str, limit: float) -> str | None:
    """A sentence where the system's mean length leaves base's by more than `limit`, else None."""
    base, tuned = lengths["base"].mean, lengths[name].mean
    change = tuned / base - 1 if base else 0.0
    # No warning exactly at the limit, however the division rounds.
    if abs(change) <= limit + 1e-9:
        return None
    direction = "longer" if change > 0 else "shorter"
    return (
        f"Summaries of {name} are {abs(change):.1%} {direction} than base's ({tuned:.1f} against "
        f"{base:.1f} words; report.length_warning is {100 * limit:g}%). A shorter summary has less "
        "to get wrong: compare at equal length."
    )
