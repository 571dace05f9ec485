"""The verdict of a run in a few sentences: which system to keep, how much better, and the control.

One text for the terminal, the page, the model card and `brido.json`.
"""

from collections.abc import Mapping
from typing import Any

from brido.report.display import ColumnKey, display
from brido.report.metrics import Estimate, Estimates
from brido.report.summary import direction, every_column

# What the second sentence tells, in this order, as far as it was measured.
_TOLD = ("good", "unsupported", "r1", "length")
_WORDS = {
    "good": "good summaries",
    "unsupported": "unsupported",
    "r1": "ROUGE-1",
    "length": "words",
}
_CONDITIONS = {
    "rouge_loss": "loses too much ROUGE-1",
    "length_change": "writes too short or too long",
}


def told_columns(systems: Mapping[str, Estimates], by: ColumnKey) -> list[ColumnKey]:
    """The columns that a verdict tells: what decided, then good, unsupported, ROUGE-1 and words."""
    measured = every_column(systems)
    columns = [by] if by in measured else []
    for name in _TOLD:
        same = [column for column in measured if column[1] == name]
        columns += [column for column in same[:1] if column not in columns]
    return columns


def verdict(
    choice: Mapping[str, Any],
    by: ColumnKey,
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
    control: str | None,
) -> list[str]:
    """The verdict, a sentence or two a line.

    choice: the content of metrics/choice.json. by: the column that decided. systems, differences:
    of test documents, by `NAME` and by `NAME - OTHER`; differences of the chosen system to base and
    to the control, and of the control to base. control: its name, None if none was trained.
    """
    chosen = choice["chosen"]
    lines = [_keep(choice, by)]
    columns = told_columns(systems, by)
    if chosen != "base":
        lines.append(_gain(chosen, columns, systems, differences))
    lines.append(_control(chosen, by, columns, systems, differences, control))
    lines.append(
        "Use it: `brido summarize new.jsonl` writes summaries of new documents with data/chosen."
    )
    return lines


def _keep(choice: Mapping[str, Any], by: ColumnKey) -> str:
    """Which system, chosen where, on how many documents, and why."""
    chosen, best, documents = choice["chosen"], choice["best"], choice["documents"]
    rows, counted = choice["systems"], _name(by)
    where = f"on {documents:,} validation documents"
    own = _text(by, rows["base"]["quality"])
    if choice["reason"] == "few documents":
        line = (
            f"No system was chosen, because {documents:,} validation documents are too few to "
            "compare systems. Base stays. Use 20 or more, better 100 (documents.validation)."
        )
    elif chosen != "base":
        line = (
            f"Keep {chosen}: it is best {where} ({counted} {_text(by, rows[chosen]['quality'])}, "
            f"base {own})."
        )
    elif best == "base":
        line = f"Keep base: no other system is better {where} ({counted} {own})."
    else:
        line = (
            f"Keep base: {best} is not clearly better {where} "
            f"({counted} {_text(by, rows[best]['quality'])}, base {own})."
        )
    out = [
        f"{name} ({' and '.join(_CONDITIONS[key] for key in row['left_out'])})"
        for name, row in rows.items()
        if row["left_out"]
    ]
    return f"{line} Left out: {', '.join(out)}." if out else line


def _gain(
    chosen: str,
    columns: list[ColumnKey],
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
) -> str:
    parts = []
    for column in columns:
        own, new, gap = (
            _item(systems["base"], column),
            _item(systems[chosen], column),
            _item(differences.get(f"{chosen} - base", {}), column),
        )
        if own and new and gap:
            parts.append(
                f"{_name(column)} {_text(column, own.mean)} -> {_text(column, new.mean)} "
                f"({_gap(column, gap)})"
            )
    documents = max((item.documents for _, item in _items(systems[chosen])), default=0)
    return f"On {documents:,} test documents, base -> {chosen}: {'; '.join(parts)}."


def _control(
    chosen: str,
    by: ColumnKey,
    columns: list[ColumnKey],
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
    control: str | None,
) -> str:
    """What the control says of the order of the candidates."""
    if control is None:
        return (
            "No control was trained. Only a control shows whether the order of the candidates "
            "matters: dvc exp run -S '+tuned.control.scoring.shuffle=true'."
        )
    what = "The control (the same scores, shuffled)"
    if chosen == control:
        return (
            f"{what} was chosen itself: on these documents the order of the candidates does not "
            "matter."
        )
    own = _item(systems[control], by)
    if own is None:
        return f"{what} was not measured."
    if chosen == "base":
        gap = _item(differences.get(f"{control} - base", {}), by)
        return f"{what}: {_name(by)} {_text(by, own.mean)}, {_versus(by, gap, 'base')}."
    gap = _item(differences.get(f"{chosen} - {control}", {}), by)
    told = f"{what}: {_name(by)} {_text(by, own.mean)}; {chosen} less control "
    told += _gap(by, gap) if gap else "unknown"
    better = direction(gap, *by) if gap else 0
    if better > 0:
        return f"{told}. The order of the candidates matters here."
    if better < 0:
        return f"{told}. The control does better: this order does harm here."
    rouge = next((column for column in columns if column[1] == "r1"), None)
    kept = _item(differences.get(f"{chosen} - {control}", {}), rouge) if rouge else None
    if rouge and kept and direction(kept, *rouge) > 0:
        return (
            f"{told}, which may be chance; ROUGE-1 {_gap(rouge, kept)}. The control gains as "
            "much and loses content: the order keeps the content."
        )
    return (
        f"{told}, which may be chance. The control does as well: the order of the candidates does "
        "not matter here."
    )


def _versus(column: ColumnKey, gap: Estimate | None, other: str) -> str:
    return f"{_gap(column, gap)} against {other}" if gap else f"difference to {other} unknown"


def _gap(column: ColumnKey, gap: Estimate) -> str:
    """A paired difference with its interval, signed."""
    shown = display(*column)
    low, high = shown.ends(gap.low, gap.high, signed=True)
    return f"{shown.text(gap.mean, signed=True)} [{low}, {high}]"


def _text(column: ColumnKey, value: float) -> str:
    shown = display(*column)
    return f"{shown.text(value)} {shown.unit}".rstrip()


def _name(column: ColumnKey) -> str:
    return _WORDS.get(column[1], display(*column).label)


def _item(estimates: Estimates, column: ColumnKey) -> Estimate | None:
    return estimates.get(column[0], {}).get(column[1])


def _items(estimates: Estimates) -> list[tuple[ColumnKey, Estimate]]:
    return [
        ((metric, name), item)
        for metric, numbers in estimates.items()
        for name, item in numbers.items()
    ]
