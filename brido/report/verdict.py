"""The verdict of a run in a few sentences: which system to keep, how much better, and the control.

One text for the terminal, the page, the model card and `brido.json`.
"""

from collections.abc import Mapping
from typing import Any

from brido.report.display import ColumnKey, display
from brido.report.kept import (
    TOLD,
    better_but_for_length,
    column_name,
    hardly_any_good,
    keep,
    signed_text,
    value_text,
)
from brido.report.metrics import Estimate, Estimates
from brido.report.summary import direction, every_column, item_of
from brido.stats import FEWEST

# Below this share of texts with a name or number to look up, what mentions says is about few texts.
_CHECKED = 0.5
USE = "Use it: `brido summarize new.jsonl` writes summaries of new documents with data/chosen."


def told_columns(systems: Mapping[str, Estimates], by: ColumnKey) -> list[ColumnKey]:
    """The columns that a verdict tells: what decided, then good, unsupported, ROUGE-1 and words."""
    measured = every_column(systems)
    columns = [by] if by in measured else []
    for name in TOLD:
        same = [column for column in (*columns, *measured) if column[1] == name]
        columns += [column for column in same[:1] if column not in columns]
    return columns


def verdict(
    choice: Mapping[str, Any],
    by: ColumnKey,
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
    control: str | None,
    ordered: bool = True,
    standard_errors: float = 1.0,
) -> list[str]:
    """The verdict, a sentence or two a line.

    choice: the content of metrics/choice.json. by: the column that decided. systems, differences:
    of test documents, by `NAME` and by `NAME - OTHER`; differences of the chosen system to base and
    to the control, and of the control to base. control: its name, None if none was trained.
    ordered: whether the chosen system was trained on an order of candidates. standard_errors: the
    choice's.
    """
    chosen = choice["chosen"]
    lines = [keep(choice, by), *hardly_any_good(choice, by)]
    lines += better_but_for_length(choice, by, standard_errors)
    columns = told_columns(systems, by)
    if chosen != "base":
        lines.append(_gain(chosen, by, columns, systems, differences))
    lines.append(_control(chosen, by, columns, systems, differences, control, ordered))
    if by[0] == "mentions" and (line := coverage_warning(systems, chosen)):
        lines.append(line)
    others = {"base", control or "base"} - {chosen}
    gaps = [item_of(differences.get(f"{chosen} - {other}", {}), by) for other in others]
    compared = min((gap.documents for gap in gaps if gap), default=FEWEST)
    if (documents := _tested(systems["base"])) < FEWEST:
        lines.append(
            f"Only {documents:,} test documents: no number that is measured on fewer than {FEWEST} "
            "can be trusted, nor can its interval. Section `data` says how many there are."
        )
    elif compared < FEWEST:
        lines.append(
            f"Only {compared:,} test documents have the numbers that decide of both systems: no "
            f"difference on fewer than {FEWEST} can be trusted, nor can its interval."
        )
    return lines


def _tested(estimates: Estimates) -> int:
    """How many test documents a system was measured on; columns may have fewer."""
    items = (item for numbers in estimates.values() for item in numbers.values())
    return max((item.documents for item in items), default=0)


def coverage_warning(systems: Mapping[str, Estimates], system: str) -> str | None:
    """What is said where metric mentions can check less than half of a system's summaries."""
    checked, details = (
        item_of(systems.get(system, {}), ("mentions", name)) for name in ("checked", "details")
    )
    if checked is None or details is None or checked.mean >= _CHECKED:
        return None
    return (
        f"Metric mentions can check only {100 * checked.mean:.0f} % of the summaries of {system} "
        f"({details.mean:.1f} names and numbers a text): the others have nothing that it looks up, "
        "so it knows little of what is made up here. Read some, or measure minicheck, geval or "
        "qafacteval."
    )


def _gain(
    chosen: str,
    by: ColumnKey,
    columns: list[ColumnKey],
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
) -> str:
    """The numbers of test documents, with paired intervals, and whether the gain stands there."""
    parts = []
    for column in columns:
        own, new, gap = (
            item_of(systems["base"], column),
            item_of(systems[chosen], column),
            item_of(differences.get(f"{chosen} - base", {}), column),
        )
        if own and new and gap:
            # The two means may be of other documents than their difference, and say the opposite.
            alike = own.documents == new.documents == gap.documents
            both = "" if alike else f", of {gap.documents:,} documents that have both"
            parts.append(
                f"{column_name(column)} {value_text(column, own.mean)} -> "
                f"{value_text(column, new.mean)} ({_gap(column, gap)}{both})"
            )
    documents = _tested(systems[chosen])
    line = (
        f"On {documents:,} test documents, base -> {chosen} (difference with its 95 % interval): "
        f"{'; '.join(parts)}."
    )
    gap = item_of(differences.get(f"{chosen} - base", {}), by)
    if gap is None or direction(gap, *by) > 0:
        return line
    # Where five systems are just as good as base, every second run keeps one of them.
    return (
        f"{line} So {chosen} is not clearly better than base: what is best on validation documents "
        "may be so by chance."
    )


def _control(
    chosen: str,
    by: ColumnKey,
    columns: list[ColumnKey],
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
    control: str | None,
    ordered: bool,
) -> str:
    """What the control says of the order of the candidates."""
    if control is None:
        return (
            "No control was trained. Only a control shows whether the order of the candidates "
            "matters: dvc exp run -S '+tuned.control.scoring.shuffle=true'."
        )
    what = f"The control (`{control}`: the same scores, shuffled)"
    if chosen == control:
        return (
            f"{what} is the chosen system: among the systems that could be kept no order of the "
            "candidates did better."
        )
    own = item_of(systems[control], by)
    if own is None:
        return f"{what} was not measured."
    what += f": {column_name(by)} {value_text(by, own.mean)}"
    if chosen == "base":
        gap = item_of(differences.get(f"{control} - base", {}), by)
        return f"{what}; difference to base: {_gap(by, gap) if gap else 'unknown'}."
    gaps = differences.get(f"{chosen} - {control}", {})
    gap = item_of(gaps, by)
    if gap is None:
        return f"{what}; difference of {chosen} to it: unknown."
    what += f"; difference of {chosen} to it: {_gap(by, gap)}"
    rouge = next((column for column in columns if column[1] == "r1"), None)
    kept = item_of(gaps, rouge) if rouge else None
    return f"{what}{_meaning(chosen, by, gap, rouge, kept, ordered)}"


def _meaning(
    chosen: str,
    by: ColumnKey,
    gap: Estimate,
    rouge: ColumnKey | None,
    kept: Estimate | None,
    ordered: bool,
) -> str:
    """What follows from the difference of the chosen system to the control, and that of ROUGE-1."""
    better = direction(gap, *by)
    if not ordered:
        return {1: f". {chosen} is better.", -1: ". The control is better."}.get(
            better, ", which may be chance."
        )
    if better > 0:
        return ". The order of the candidates matters here."
    if better < 0:
        return ". The control is better: this order does harm here."
    side = direction(kept, *rouge) if rouge and kept else 0
    if rouge and kept and side:
        content = (
            "The order keeps words of the references that the control loses."
            if side > 0
            else "The control keeps words of the references that this order loses."
        )
        return f", which may be chance; of ROUGE-1: {_gap(rouge, kept)}. {content}"
    return ", which may be chance: nothing here shows that the order of the candidates matters."


def _gap(column: ColumnKey, gap: Estimate) -> str:
    """A paired difference with its interval, signed."""
    shown = display(*column)
    low, high = shown.ends(gap.low, gap.high, signed=True)
    return f"{signed_text(column, gap.mean)} [{low}, {high}]"
