"""How people see the numbers: what the metrics declare of their columns, and arrows for directions.

Numbers of an older run may have a metric or a column that is no longer declared: it is shown by
its own name, without a direction, behind the known ones.
"""

from brido.evaluation import Column
from brido.evaluation.registry import all_metrics

# A column of a table: the metric's name and the column's.
ColumnKey = tuple[str, str]

# Beside a heading, and in words.
DIRECTIONS = {
    "higher": ("↑", "higher is better"),
    "lower": ("↓", "lower is better"),
    "neither": ("", "neither direction is better"),
}


def known_columns() -> dict[ColumnKey, Column]:
    """Every declared column, in the order in which tables show them."""
    return {
        (metric.name, column.name): column for metric in all_metrics() for column in metric.columns
    }


def display(metric: str, name: str) -> Column:
    """How a column is shown."""
    return known_columns().get((metric, name)) or Column(name, better="neither")


def metric_label(name: str, voting: str = "") -> str:
    """The metric's name as tables show it, marked if it is the checker that also voted."""
    label = next((metric.label for metric in all_metrics() if metric.name == name), name)
    return f"{label} †" if name == voting else label
