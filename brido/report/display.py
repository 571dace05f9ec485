"""How people see the numbers: what the metrics declare of their columns.

A metric or a column that is not declared is shown by its own name, behind the known ones.
"""

from brido.evaluation import Column
from brido.evaluation.registry import all_metrics

# A column of a table: the metric's name and the column's.
ColumnKey = tuple[str, str]


def column_of(name: str) -> ColumnKey:
    """METRIC.COLUMN as a pair."""
    metric, _, column = name.partition(".")
    return metric, column


def known_columns() -> dict[ColumnKey, Column]:
    """Every declared column, in the order in which tables show them."""
    return {
        (metric.name, column.name): column for metric in all_metrics() for column in metric.columns
    }


def display(metric: str, name: str) -> Column:
    """How a column is shown."""
    return known_columns().get((metric, name)) or Column(name, better="neither")


def metric_label(name: str) -> str:
    """The metric's name as tables show it."""
    return next((metric.label for metric in all_metrics() if metric.name == name), name)
