"""The verdict of a run: a small table of test documents, and a line for each thing that follows.

One text for the terminal, the page, the model card and `brido.json`.
"""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any, NamedTuple

from brido.report.display import (
    column_name,
    direction,
    display,
    ends,
    gap_text,
    told_columns,
    value_text,
)
from brido.report.metrics import ColumnKey, Estimate, Estimates, item_of
from brido.report.seen import READ
from brido.report.summary import aligned
from brido.stats import FEWEST

USE = "Use it: `brido summarize new.jsonl` writes summaries of new documents with data/chosen."
# Below this share of good summaries nobody should use them unread; below the second a better base
# is needed.
_READY, _USABLE = 0.8, 0.2
# Below this share of texts with a name or number to look up, what mentions says is about few texts.
_CHECKED = 0.5
_WIDTH = 100
_SAID = {1: "better", -1: "worse", 0: "no clear difference"}


class Measured(NamedTuple):
    """What a verdict is about: numbers of test documents, and who is who.

    by: the column that decided. systems, differences: by `NAME` and by `NAME - OTHER`; differences
    of the chosen system to all others, of `trained` to the control, and of the control to base.
    control: its name, None if none was trained. rivals: systems that nothing was trained for,
    beside base. measures: a column of another check than the one that decided. blind: the check
    that decided cannot tell good from bad on these texts. trained: the best system that training
    made, the control aside.
    """

    by: ColumnKey
    systems: Mapping[str, Estimates]
    differences: Mapping[str, Estimates]
    control: str | None
    rivals: Sequence[str] = ()
    measures: ColumnKey | None = None
    blind: bool = False
    trained: str | None = None

    def of(self, system: str, column: ColumnKey) -> Estimate | None:
        """A mean of a system."""
        return item_of(self.systems.get(system, {}), column)

    def gap(self, system: str, other: str | None, column: ColumnKey) -> Estimate | None:
        """The paired difference of two systems; None where it was not measured."""
        return item_of(self.differences.get(f"{system} - {other}", {}), column)


def verdict(choice: Mapping[str, Any], found: Measured) -> list[str]:
    """What follows, a line each: keep what and why, is it good enough, what others say of that.

    choice: the content of metrics/choice.json.
    """
    chosen, told = choice["chosen"], found.measures or found.by
    lines = [
        _keep(choice, found.by),
        _good_enough(chosen, found),
        _other_check(chosen, found),
        _against_control(chosen, found),
        *(_against(chosen, rival, ", which trains nothing", told, found) for rival in found.rivals),
        _against(chosen, found.trained, ", the best that training made", told, found),
        _few_checked(chosen, found),
    ]
    return [line for line in lines if line]


def _keep(choice: Mapping[str, Any], by: ColumnKey) -> str:
    """Which system, chosen on what, why, and who could not be chosen."""
    chosen, best, rows = choice["chosen"], choice["best"], choice["systems"]
    where = f"{choice['documents']:,} validation documents"
    reached = {name: value_text(by, row["quality"]) for name, row in rows.items()}
    values = f"{column_name(by)} {reached[best]}"
    if best != "base":
        values += f", base {reached['base']}"
        if rows[best]["standard_error"] is not None:
            gap = display(by).text(rows[best]["difference"], signed=True)
            error = display(by).text(rows[best]["standard_error"])
            values += f", difference {gap} with standard error {error}"
    if choice["reason"] == "few documents":
        line = f"Keep `base`: {where} are too few to choose by; use {FEWEST} or more."
    elif chosen == best == "base":
        line = f"Keep `base`: no other system is better on {where} ({values})."
    elif chosen == best:
        line = f"Keep `{chosen}`: it is best on {where} ({values})."
    else:
        line = f"Keep `base`: `{best}` is not clearly better on {where} ({values})."
    for name, row in rows.items():
        if row["left_out"] == ["by"]:
            line += (
                f" `{name}` cannot be chosen by {by[0]}, which picked its summaries: another "
                "metric in choice.by could."
            )
        elif row["left_out"]:
            keys = " and ".join(f"choice.{key}" for key in row["left_out"])
            line += (
                f" Left out by {keys}: `{name}` ({column_name(by)} {reached[name]}, "
                f"{row['words']:.1f} words against base's {rows['base']['words']:.1f})."
            )
    return line


def _good_enough(chosen: str, found: Measured) -> str:
    """What the kept system reaches on test documents, and whether its gain stands there."""
    by, item = found.by, found.of(chosen, found.by)
    if item is None:
        return f"Good enough? {column_name(by)} was not measured on test documents."
    text = f"Good enough? {_mean(by, item)} on {item.documents:,} test documents"
    gap, documents = found.gap(chosen, "base", by), item.documents
    if gap is not None:
        text += f", {gap_text(by, gap)} against base"
        text += f" (on {gap.documents:,})" if gap.documents != documents else ""
        documents = min(documents, gap.documents)
        if direction(gap, by) <= 0:
            text += ": not clearly better than base, which may be best by chance"
    text += "."
    good = by[1] == "good"
    if documents < FEWEST:
        text += f" No number of fewer than {FEWEST} documents can be trusted."
    if good and not found.blind:
        text += f" {100 * (1 - item.mean):.0f} of 100 summaries are not good."
    if found.blind or (good and item.mean < _READY):
        text += f" Not ready to be used unread: {READ}."
    if good and item.mean < _USABLE and not found.blind:
        text += (
            " More references to learn from, a larger model, or documents that are read whole give "
            "a better base."
        )
    return text


def _other_check(chosen: str, found: Measured) -> str | None:
    """What another check than the one that decided says of the kept system."""
    column = found.measures
    if column is None:
        return None
    text, item = f"{column[0]}, which did not choose, measures", found.of(chosen, column)
    if item is None:
        return f"{text} nothing of `{chosen}`."
    text, gap = f"{text} {_mean(column, item)}", found.gap(chosen, "base", column)
    return f"{text}, against base {_compared(column, gap)}." if gap else f"{text}."


def _against_control(chosen: str, found: Measured) -> str:
    """Whether the order of the candidates did anything that shuffled scores did not."""
    control = found.control
    if control is None:
        return (
            "No control was trained, so nothing shows whether the order of the candidates matters: "
            "dvc exp run -S '+tuned.control.scoring.shuffle=true'."
        )
    if chosen == control:
        return f"`{control}`, whose scores are shuffled, is kept: no order did better."
    own = found.trained or (chosen if chosen != "base" else None)
    first, second = (own, control) if own else (control, "base")
    line = _against(first, second, "", found.by, found)
    return line or f"`{control}`, the same scores shuffled, was not measured."


def _against(
    first: str, second: str | None, what: str, column: ColumnKey, found: Measured
) -> str | None:
    """How one system compares with another; None where that was not measured."""
    gap = found.gap(first, second, column)
    return f"`{first}` against `{second}`{what}: {_compared(column, gap)}." if gap else None


def _few_checked(chosen: str, found: Measured) -> str | None:
    """What is said where metric mentions decides and can check less than half of the summaries."""
    checked = found.of(chosen, ("mentions", "checked"))
    if found.by[0] != "mentions" or checked is None or checked.mean >= _CHECKED:
        return None
    return (
        f"Metric mentions can check only {100 * checked.mean:.0f} % of the summaries of {chosen}: "
        "read some of the others, or measure minicheck, geval or qafacteval."
    )


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
        named = f"{column_name(column)} {display(column).unit}".rstrip()
        named += f", by {column[0]}" if measures and interval else ""
        row = [named]
        for name, estimates in systems.items():
            item = item_of(estimates, column)
            if item is None:
                row.append("–")
            elif column[0] == picked.get(name):
                row.append("picked")
            else:
                text = display(column).text(item.mean)
                text += f" {ends(column, item)}" if interval else ""
                row.append(text if item.documents == documents else f"{text} ({item.documents:,})")
        rows.append(row)
    return rows


def verdict_text(table: Sequence[Sequence[str]], lines: Sequence[str]) -> str:
    """The verdict for a terminal: its table and its lines."""
    shown = [fill(line, _WIDTH, subsequent_indent="  ") for line in lines]
    return "\n".join([aligned(table), "", *shown])


def _mean(column: ColumnKey, item: Estimate) -> str:
    return f"{column_name(column)} {value_text(column, item.mean)} {ends(column, item)}"


def _compared(column: ColumnKey, gap: Estimate) -> str:
    return f"{column_name(column)} {gap_text(column, gap)}, {_SAID[direction(gap, column)]}"
