"""The short table that ends the report stage: a row per system, intervals below the numbers."""

from collections.abc import Mapping

from brido.report.display import ColumnKey, arrow, display, known_columns, metric_label
from brido.report.metrics import Estimate, Estimates
from brido.report.text_table import aligned


def headline_columns(systems: Mapping[str, Estimates]) -> list[ColumnKey]:
    """The (metric, submetric) pairs of the short table that at least one system has.

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


def summary_table(
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
    confidence: float,
    voting: str = "",
) -> str:
    """The table as plain text, two lines a system: the means, then their intervals.

    A difference whose interval leaves out 0 carries a star, the metric `voting`, which also voted,
    a dagger.
    """
    columns = headline_columns(systems)
    rows: list[list[str]] = [
        ["", *(metric_label(metric, voting) for metric, _ in columns)],
        ["", *(_heading(metric, name) for metric, name in columns)],
    ]
    for name, estimates in systems.items():
        rows += _two_lines(name, estimates, columns, signed=False)
    for name, estimates in differences.items():
        rows += _two_lines(name, estimates, columns, signed=True)
    rows[0] = _once(rows[0])
    lines = aligned(rows)
    rule = "-" * max(len(line) for line in lines)
    lines.insert(2, rule)
    if differences:
        lines.insert(3 + 2 * len(systems), rule)
    note = f"Below each mean its {100 * confidence:g}% bootstrap interval over documents"
    if differences:
        note += "; * the interval of a paired difference leaves out 0"
    if voting in {metric for metric, _ in columns}:
        note += "; † this checker also voted (scoring.support_weight): it likes what it chose"
    return "\n".join([*lines, note])


def _heading(metric: str, name: str) -> str:
    column = display(metric, name)
    return f"{column.heading} {arrow(column)}".rstrip()


def _once(row: list[str]) -> list[str]:
    """A heading that stands over several columns, written over the first of them."""
    return [cell if index == 0 or cell != row[index - 1] else "" for index, cell in enumerate(row)]


def _two_lines(
    name: str, estimates: Estimates, columns: list[ColumnKey], signed: bool
) -> list[list[str]]:
    top, bottom = [name], [""]
    for metric, submetric in columns:
        item = estimates.get(metric, {}).get(submetric)
        top.append("-" if item is None else _mean(item, metric, submetric, signed))
        bottom.append("" if item is None else interval(item, metric, submetric, signed))
    return [top, bottom]


def _mean(item: Estimate, metric: str, submetric: str, signed: bool) -> str:
    text = display(metric, submetric).text(item.mean, signed)
    return text + ("*" if signed and excludes_zero(item, metric, submetric) else "")


def interval(item: Estimate, metric: str, submetric: str, signed: bool = False) -> str:
    """The estimate's interval as `low…high` in the submetric's unit."""
    return "…".join(display(metric, submetric).ends(item.low, item.high, signed))


def excludes_zero(item: Estimate, metric: str, submetric: str) -> bool:
    """Whether the whole interval, as it is printed, lies on one side of zero."""
    low, high = map(float, display(metric, submetric).ends(item.low, item.high))
    return low > 0 or high < 0


def length_warning(lengths: Mapping[str, Estimate], name: str, limit: float) -> str | None:
    """A sentence where the system's mean length leaves base's by more than `limit`, else None."""
    base, tuned = lengths["base"].mean, lengths[name].mean
    change = tuned / base - 1 if base else 0.0
    # Exactly at the limit is no warning, whatever the division rounds to.
    if abs(change) <= limit + 1e-9:
        return None
    direction = "longer" if change > 0 else "shorter"
    return (
        f"Summaries of {name} are {abs(change):.1%} {direction} than base's ({tuned:.1f} against "
        f"{base:.1f} words; report.length_warning is {100 * limit:g}%). A shorter summary has less "
        "to get wrong: compare at equal length."
    )
