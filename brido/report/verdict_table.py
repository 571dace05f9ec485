"""The table of a verdict: what was measured on test documents, a column a system."""

from collections.abc import Mapping

from brido.report.display import ColumnKey, display
from brido.report.metrics import Estimate, Estimates
from brido.report.summary import every_column, item_of

# The rows below the one that decided, in this order, and what people call them.
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


def told_columns(
    systems: Mapping[str, Estimates], by: ColumnKey, measures: ColumnKey | None = None
) -> list[ColumnKey]:
    """The numbers of the table: what decided, what measures, then the measured ones of TOLD."""
    measured = every_column(systems)
    columns = [one for one in (by, measures) if one in measured]
    for name in TOLD:
        same = [column for column in (*columns, *measured) if column[1] == name]
        columns += [column for column in same[:1] if column not in columns]
    return columns


def verdict_table(
    systems: Mapping[str, Estimates],
    by: ColumnKey,
    measures: ColumnKey | None = None,
    notes: Mapping[str | None, str] | None = None,
    picked: Mapping[str, str | None] | None = None,
) -> list[list[str]]:
    """The table as text: a heading with the systems, then a row a number.

    What decided and what measures have their intervals. A number of fewer documents than the first
    heading says has their count in brackets. notes: what stands in brackets behind a name. picked:
    the metric that picked a system's summaries, which says nothing about them.
    """
    notes, picked = notes or {}, picked or {}
    documents = max(
        (item.documents for estimates in systems.values() for own in estimates.values()
         for item in own.values()),
        default=0,
    )  # fmt: skip
    heads = [f"{name} ({notes[name]})" if name in notes else name for name in systems]
    rows = [[f"{documents:,} test documents", *heads]]
    for column in told_columns(systems, by, measures):
        interval = column in (by, measures)
        named = f"{column_name(column)} {display(*column).unit}".rstrip()
        named += f", by {column[0]}" if measures and interval else ""
        row = [named]
        for name, estimates in systems.items():
            item = item_of(estimates, column)
            if item is None:
                row.append("–")
            elif column[0] == picked.get(name):
                row.append("picked")
            else:
                text = display(*column).text(item.mean)
                text += f" {ends(column, item)}" if interval else ""
                row.append(text if item.documents == documents else f"{text} ({item.documents:,})")
        rows.append(row)
    return rows


def column_name(column: ColumnKey) -> str:
    """What people call a column."""
    return TOLD.get(column[1], display(*column).label)


def ends(column: ColumnKey, item: Estimate, signed: bool = False) -> str:
    """An interval as printed."""
    return "[{}, {}]".format(*display(*column).ends(item.low, item.high, signed))


def gap_text(column: ColumnKey, gap: Estimate) -> str:
    """A difference with its interval, as printed."""
    return f"{display(*column).text(gap.mean, signed=True)} {ends(column, gap, signed=True)}"
