"""Which system a run keeps, in sentences: why it, who was left out, and what stands against it."""

from collections.abc import Mapping
from math import isclose
from typing import Any

from brido.report.display import ColumnKey, display
from brido.stats import FEWEST

# The columns that a verdict tells beside the one that decided, in this order, and their names.
TOLD = {
    "good": "good summaries",
    "unsupported": "unsupported",
    "r1": "ROUGE-1",
    "length": "words",
}
_CONDITIONS = {
    "rouge_loss": "loses too much ROUGE-1",
    "length_change": "its length differs too much",
}
# Below this share of good summaries the kept system is hardly of use.
_USABLE = 0.2
# How far apart equal numbers of metrics/choice.json may be: they have six decimals.
_ROUNDED = 1e-5


def keep(choice: Mapping[str, Any], by: ColumnKey) -> str:
    """Which system, chosen where, on how many documents, and why; and who could not be chosen."""
    chosen, best, documents = choice["chosen"], choice["best"], choice["documents"]
    rows, counted = choice["systems"], column_name(by)
    where = f"on {documents:,} validation documents"
    own, top = value_text(by, rows["base"]["quality"]), rows[best]
    out = [
        f"{name} ({' and '.join(_CONDITIONS[key] for key in row['left_out'])})"
        for name, row in rows.items()
        if row["left_out"]
    ]
    if choice["reason"] == "few documents":
        line = (
            f"No system was chosen, because {documents:,} validation documents are too few to "
            f"compare systems. Base stays. Use {FEWEST} or more, better 100: section `data` says "
            "how many there are."
        )
    elif best == chosen:
        # Not "it is best": others may be as good, and those that are left out better.
        others = "no other system that meets the conditions" if out else "no other system"
        values = own if chosen == "base" else f"{value_text(by, top['quality'])}, base {own}"
        gap = top["difference"]
        # The means may be of other documents than the difference that decided. All are rounded.
        apart = top["quality"] - rows["base"]["quality"]
        if gap is not None and not isclose(apart, gap, abs_tol=_ROUNDED):
            values += f", difference on documents that both have {signed_text(by, gap)}"
        line = f"Keep `{chosen}`: {others} is better {where} ({counted} {values})."
    else:
        gap, error = (value_text(by, abs(top[key])) for key in ("difference", "standard_error"))
        line = (
            f"Keep `base`: `{best}` is not clearly better {where} ({counted} "
            f"{value_text(by, top['quality'])}, base {own}; difference {gap}, standard error "
            f"{error})."
        )
    return f"{line} Left out: {', '.join(out)}." if out else line


def hardly_any_good(choice: Mapping[str, Any], by: ColumnKey) -> list[str]:
    """What is said where the kept system writes few good summaries: it is only the least bad."""
    chosen, quality = choice["chosen"], choice["systems"][choice["chosen"]]["quality"]
    if by[1] != "good" or quality >= _USABLE:
        return []
    return [
        f"Only {value_text(by, quality)} of the summaries of {chosen} are good: read some before "
        "you use any. More references to learn from, a larger model, or documents that are read "
        "whole give a better base."
    ]


def better_but_for_length(
    choice: Mapping[str, Any], by: ColumnKey, standard_errors: float
) -> list[str]:
    """The best system that was left out for its length alone, if it beats the chosen one.

    Where base copies its documents every good system is shorter.
    """
    rows, sign = choice["systems"], -1 if display(*by).better == "lower" else 1
    chosen, base = rows[choice["chosen"]], rows["base"]
    better = {
        name: row
        for name, row in rows.items()
        if row["left_out"] == ["length_change"]
        and sign * (row["quality"] - chosen["quality"]) > 0
        # None where no document has numbers of both: nothing is known of the difference then.
        and sign * (row["difference"] or 0.0) > standard_errors * (row["standard_error"] or 0.0)
    }
    if not better or choice["reason"] == "few documents":
        return []
    name = max(better, key=lambda name: sign * better[name]["quality"])
    values = (value_text(by, row["quality"]) for row in (better[name], chosen))
    words = (f"{row['words']:.1f}" for row in (better[name], base))
    return [
        f"`{name}` does better ({column_name(by)} {' against '.join(values)}), but was left out "
        f"for its length: {' words a summary, base '.join(words)}. If its length is right for you, "
        "`dvc exp run -S choice.length_change=null` chooses among all lengths."
    ]


def value_text(column: ColumnKey, value: float) -> str:
    """A value with its unit."""
    shown = display(*column)
    return f"{shown.text(value)} {shown.unit}".rstrip()


def signed_text(column: ColumnKey, value: float) -> str:
    """A difference with its sign, without its unit."""
    return display(*column).text(value, signed=True)


def column_name(column: ColumnKey) -> str:
    """What a sentence calls a column."""
    return TOLD.get(column[1], display(*column).label)
