"""How people see the numbers: what metrics declare of their columns, and a verdict's words.

A metric or a column that is not declared is shown by its own name, behind the known ones.
"""

from collections.abc import Mapping

from brido.evaluation import Column
from brido.evaluation.registry import all_metrics
from brido.report.metrics import ColumnKey, Estimate, Estimates

# The rows of a verdict below the one that decided, in this order, and what people call them.
TOLD = {
    "good": "good",
    "unsupported": "unsupported",
    # Kinds of what is unsupported.
    "names": "- names",
    "numbers": "- numbers",
    "dates": "- dates",
    "planted": "- planted day",
    # Why a text is not whole.
    "whole": "whole",
    "no_sentence": "- no sentence",
    "repeats": "- repeats",
    "cut": "- cut",
    "too_short": "- too short",
    "too_long": "- too long",
    "r1": "ROUGE-1",
    "length": "words",
}


def known_columns() -> dict[ColumnKey, Column]:
    """Every declared column, in the order in which tables show them."""
    return {
        (metric.name, column.name): column for metric in all_metrics() for column in metric.columns
    }


def display(column: ColumnKey) -> Column:
    """How a column is shown."""
    return known_columns().get(column) or Column(column[1], better="neither")


def metric_label(name: str) -> str:
    """The metric's name as tables show it."""
    return next((metric.label for metric in all_metrics() if metric.name == name), name)


def every_column(systems: Mapping[str, Estimates]) -> list[ColumnKey]:
    """Every column that at least one system has, known ones first."""
    found = {
        (metric, name): None
        for estimates in systems.values()
        for metric, numbers in estimates.items()
        for name in numbers
    }
    known = {column: index for index, column in enumerate(known_columns())}
    return sorted(found, key=lambda column: known.get(column, len(known)))


def told_columns(
    systems: Mapping[str, Estimates], by: ColumnKey, measures: ColumnKey | None = None
) -> list[ColumnKey]:
    """The rows of a verdict: what decided, what measures, then the measured ones of TOLD."""
    measured = every_column(systems)
    columns = [one for one in (by, measures) if one in measured]
    for name in TOLD:
        same = [column for column in (*columns, *measured) if column[1] == name]
        columns += [column for column in same[:1] if column not in columns]
    return columns


def column_name(column: ColumnKey) -> str:
    """What people call a column."""
    return TOLD.get(column[1], display(column).label)


def value_text(column: ColumnKey, value: float) -> str:
    """A number with its unit."""
    shown = display(column)
    return f"{shown.text(value)} {shown.unit}".rstrip()


def ends(column: ColumnKey, item: Estimate, signed: bool = False) -> str:
    """An interval as printed."""
    return "[{}, {}]".format(*display(column).ends(item.low, item.high, signed))


def gap_text(column: ColumnKey, gap: Estimate) -> str:
    """A difference with its interval, as printed."""
    return f"{display(column).text(gap.mean, signed=True)} {ends(column, gap, signed=True)}"


def direction(item: Estimate, column: ColumnKey) -> int:
    """The side of zero on which the whole interval lies as it is printed: 1, -1, or 0 for neither.

    1 means better: more, or less where less is better.
    """
    shown = display(column)
    low, high = map(float, shown.ends(item.low, item.high))
    side = (low > 0) - (high < 0)
    return -side if shown.better == "lower" else side
