"""Tables of results: a row a system, then a row a difference; for the terminal, page and card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby
from operator import itemgetter

from brido.report.display import direction, display, every_column, metric_label
from brido.report.metrics import ColumnKey, Estimates, item_of

# The direction of a column beside its heading, and in words.
_DIRECTIONS = {
    "higher": ("↑", "higher is better"),
    "lower": ("↓", "lower is better"),
    "neither": ("", "neither direction is better"),
}
# What a mean length is called in the tables.
WORDS = ("extractiveness", "length")


def headline_columns(systems: Mapping[str, Estimates]) -> list[ColumnKey]:
    """Return the (metric, submetric) pairs of the short table that at least one system has.

    What should be low comes first: it is what the vote is for, and is seen on a narrow screen.
    """
    shown = [column for column in every_column(systems) if display(column).headline]
    return sorted(shown, key=lambda column: display(column).better != "lower")


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


@dataclass(frozen=True)
class ResultTable:
    """Rows of cells, a cell a column.

    groups: the metrics' names, each with the number of neighbouring columns that it heads. heads:
    each column's name with its unit, an arrow towards the better numbers, and that in words.
    """

    columns: Sequence[ColumnKey]
    groups: Sequence[tuple[str, int]]
    heads: Sequence[tuple[str, str, str]]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    differences: Sequence[tuple[str, Sequence[Cell]]]


def result_table(
    columns: Sequence[ColumnKey],
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
) -> ResultTable:
    """Return the table of `columns`."""
    best, shown = {one: _best(one, systems) for one in columns}, [display(one) for one in columns]
    return ResultTable(
        columns,
        [(metric_label(metric), len(list(own))) for metric, own in groupby(columns, itemgetter(0))],
        [(column.heading, *_DIRECTIONS[column.better]) for column in shown],
        [
            (name, [_cell(estimates, column, name in best[column]) for column in columns])
            for name, estimates in systems.items()
        ],
        [
            (name, [_cell(estimates, column, paired=True) for column in columns])
            for name, estimates in differences.items()
        ],
    )


def _best(column: ColumnKey, systems: Mapping[str, Estimates]) -> set[str]:
    """Return the model systems with the best mean; the reference does not compete."""
    better = display(column).better
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


def _cell(
    estimates: Estimates, column: ColumnKey, best: bool = False, paired: bool = False
) -> Cell:
    item = item_of(estimates, column)
    if item is None:
        return Cell("–")
    shown, side = display(column), direction(item, column) if paired else 0
    tone = "best" if best else ""
    if side and shown.better != "neither":
        tone = "better" if side > 0 else "worse"
    low, high = shown.ends(item.low, item.high, signed=paired)
    return Cell(shown.text(item.mean, signed=paired), low, high, tone, side != 0)


def summary_table(table: ResultTable, confidence: float) -> str:
    """Return the table as plain text: each mean above its interval.

    A difference whose interval leaves out 0 has a star.
    """
    # A metric's name stands over the first of its columns.
    labels = [text for name, count in table.groups for text in (name, *[""] * (count - 1))]
    heading = [
        f"{label}\n{name} {arrow}".rstrip()
        for label, (name, arrow, _) in zip(labels, table.heads, strict=True)
    ]
    rows, differences = (
        [[name, *map(_two_lines, cells)] for name, cells in part]
        for part in (table.rows, table.differences)
    )
    note = f"Below each mean: its {100 * confidence:g}% bootstrap interval over documents"
    if table.differences:
        note += "; * the interval of a paired difference leaves out 0"
    return "\n".join([aligned([["", *heading], *rows], differences), note])


def _two_lines(cell: Cell) -> str:
    """A mean above its interval."""
    interval = f"{cell.low}…{cell.high}" if cell.low else ""
    return f"{cell.value}{'*' * cell.star}\n{interval}"


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


def length_warning(systems: Mapping[str, Estimates], name: str, limit: float) -> str | None:
    """A sentence where the system's mean length leaves base's by more than `limit`, else None."""
    base, own = (item_of(systems[one], WORDS) for one in ("base", name))
    if base is None or own is None or not base.mean:
        return None
    change = own.mean / base.mean - 1
    # No warning exactly at the limit, however the division rounds.
    if abs(change) <= limit + 1e-9:
        return None
    direction = "longer" if change > 0 else "shorter"
    return (
        f"Summaries of {name} are {abs(change):.1%} {direction} than base's ({own.mean:.1f} "
        f"against {base.mean:.1f} words; report.length_warning is {100 * limit:g}%). A shorter "
        "summary has less to get wrong: compare at equal length."
    )
