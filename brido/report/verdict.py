"""The verdict of a run: a small table of test documents, and a line for each thing that follows.

One text for the terminal, the page, the model card and `brido.json`.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from textwrap import fill
from typing import Any

from brido.report.display import ColumnKey, display
from brido.report.metrics import Estimate, Estimates
from brido.report.seen import READ
from brido.report.summary import aligned, direction, item_of
from brido.report.verdict_table import column_name, ends
from brido.stats import FEWEST

USE = "Use it: `brido summarize new.jsonl` writes summaries of new documents with data/chosen."
# Below this share of good summaries nobody should use them unread; below the second a better base
# is needed.
_READY, _USABLE = 0.8, 0.2
# Below this share of texts with a name or number to look up, what mentions says is about few texts.
_CHECKED = 0.5
# How far apart equal numbers of metrics/choice.json may be: they have six decimals.
_ROUNDED = 1e-6
_WIDTH = 100


def verdict(
    choice: Mapping[str, Any],
    by: ColumnKey,
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
    control: str | None,
    rivals: Sequence[str] = (),
    measures: ColumnKey | None = None,
    blind: bool = False,
    trained: str | None = None,
) -> list[str]:
    """What follows, a line each: keep what and why, is it good enough, what others say of that.

    choice: the content of metrics/choice.json. by: the column that decided. systems, differences:
    of test documents, by `NAME` and by `NAME - OTHER`; differences of the chosen system to all
    others, of `trained` to the control, and of the control to base. control: its name, None if none
    was trained. rivals: systems that nothing was trained for, beside base. measures: a column of
    another check than the one that decided. blind: the check that decided cannot tell good from bad
    on these texts. trained: the best system that training made, the control aside.
    """
    chosen = choice["chosen"]
    lines = [
        _keep(choice, by),
        _good_enough(chosen, by, systems, differences, blind),
        _measured(chosen, measures, systems, differences),
        _against_control(chosen, by, differences, control, trained),
        *(_against(chosen, rival, "which trains nothing", measures or by, differences)
          for rival in rivals if rival != chosen),
        trained and _against(
            chosen, trained, "the best that training made", measures or by, differences
        ),
        coverage_warning(systems, chosen, by),
    ]  # fmt: skip
    return [line for line in lines if line]


def _keep(choice: Mapping[str, Any], by: ColumnKey) -> str:
    """Which system, chosen on what, why, who is as good, and who could not be chosen."""
    chosen, best, documents = choice["chosen"], choice["best"], choice["documents"]
    rows = choice["systems"]
    top, own = rows[best], _value(by, rows["base"]["quality"])
    where = f"{documents:,} validation documents"
    values = f"{column_name(by)} {own}"
    if best != "base":
        values = f"{column_name(by)} {_value(by, top['quality'])}, base {own}"
        if top["difference"] is not None and top["standard_error"] is not None:
            gap = display(*by).text(top["difference"], signed=True)
            error = display(*by).text(top["standard_error"])
            values += f", difference {gap} with standard error {error}"
    if choice["reason"] == "few documents":
        line = f"Keep `base`: {where} are too few to choose by; use {FEWEST} or more."
    elif chosen == best == "base":
        line = f"Keep `base`: no other system is better on {where} ({values})."
    elif chosen == best:
        line = f"Keep `{chosen}`: it is best on {where} ({values})."
    else:
        line = f"Keep `base`: `{best}` is not clearly better on {where} ({values})."
    parts = [line, *_ties(choice), *_left_out(choice, by)]
    return " ".join(parts)


def _ties(choice: Mapping[str, Any]) -> Iterator[str]:
    rows, best = choice["systems"], choice["best"]
    gain = rows[best]["difference"] or 0.0
    equal = [
        f"`{name}`"
        for name, row in rows.items()
        if name != best
        and not row["left_out"]
        and isclose(0.0 if name == "base" else row["difference"] or 0.0, gain, abs_tol=_ROUNDED)
        and (name == "base" or row["difference"] is not None)
    ]
    if equal and choice["reason"] != "few documents":
        yield f"As good there: {', '.join(equal)}; the first of equals counts."


def _left_out(choice: Mapping[str, Any], by: ColumnKey) -> Iterator[str]:
    rows = choice["systems"]
    for name, row in rows.items():
        if row["left_out"] == ["by"]:
            yield (
                f"`{name}` cannot be chosen by {by[0]}, which picked its summaries: another "
                "metric in choice.by could."
            )
        elif row["left_out"]:
            keys = " and ".join(f"choice.{key}" for key in row["left_out"])
            yield (
                f"Left out by {keys}: `{name}` ({column_name(by)} {_value(by, row['quality'])}, "
                f"{row['words']:.1f} words against base's {rows['base']['words']:.1f})."
            )


def _good_enough(
    chosen: str,
    by: ColumnKey,
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
    blind: bool,
) -> str:
    """What the kept system reaches on test documents, and whether its gain stands there."""
    item = item_of(systems[chosen], by)
    if item is None:
        return f"Good enough? {column_name(by)} was not measured on test documents."
    text = (
        f"Good enough? {column_name(by)} {_value(by, item.mean)} {ends(by, item)} on "
        f"{item.documents:,} test documents"
    )
    gap, documents = item_of(differences.get(f"{chosen} - base", {}), by), item.documents
    if gap is not None:
        text += f", {_gap(by, gap)} against base"
        text += f" (on {gap.documents:,})" if gap.documents != documents else ""
        documents = min(documents, gap.documents)
        if direction(gap, *by) <= 0:
            text += ": not clearly better than base, which may be best by chance"
    text += "."
    if documents < FEWEST:
        text += f" No number of fewer than {FEWEST} documents can be trusted."
    if by[1] == "good" and not blind:
        text += f" {100 * (1 - item.mean):.0f} of 100 summaries are not good."
    if blind or (by[1] == "good" and item.mean < _READY):
        text += f" Not ready to be used unread: {READ}."
    if by[1] == "good" and item.mean < _USABLE and not blind:
        text += (
            " More references to learn from, a larger model, or "
            "documents that are read whole give a better base."
        )
    return text


def _measured(
    chosen: str,
    measures: ColumnKey | None,
    systems: Mapping[str, Estimates],
    differences: Mapping[str, Estimates],
) -> str | None:
    """What another check than the one that decided says of the kept system."""
    if measures is None:
        return None
    item = item_of(systems[chosen], measures)
    gap = item_of(differences.get(f"{chosen} - base", {}), measures)
    text = f"{measures[0]}, which did not choose, measures"
    if item is None:
        return f"{text} nothing of `{chosen}`."
    text += f" {column_name(measures)} {_value(measures, item.mean)} {ends(measures, item)}"
    if gap is None:
        return f"{text}."
    said = {1: "it agrees", -1: "it says the opposite", 0: "it sees no clear difference"}
    text += f", {_gap(measures, gap)} against base"
    return f"{text}: {said[direction(gap, *measures)]}."


def _against(
    chosen: str,
    other: str,
    what: str,
    column: ColumnKey,
    differences: Mapping[str, Estimates],
) -> str | None:
    """How the kept system stands beside another one, `what` it is; None of itself."""
    gap = item_of(differences.get(f"{chosen} - {other}", {}), column)
    if gap is None:
        return None
    said = {1: "better", -1: "worse", 0: "no clear difference"}[direction(gap, *column)]
    return (
        f"`{chosen}` against `{other}`, {what}: {column_name(column)} {_gap(column, gap)}, {said}."
    )


def _against_control(
    chosen: str,
    by: ColumnKey,
    differences: Mapping[str, Estimates],
    control: str | None,
    trained: str | None,
) -> str:
    """Whether the order of the candidates did anything that shuffled scores did not."""
    if control is None:
        return (
            "No control was trained, so nothing shows whether the order of the candidates matters: "
            "dvc exp run -S '+tuned.control.scoring.shuffle=true'."
        )
    if chosen == control:
        return f"`{control}`, whose scores are shuffled, is kept: no order did better."
    own = trained or (chosen if chosen != "base" else None)
    first, second = (own, control) if own else (control, "base")
    gap = item_of(differences.get(f"{first} - {second}", {}), by)
    if gap is None:
        return f"`{control}`, the same scores shuffled, was not measured."
    said = {1: "better", -1: "worse", 0: "no clear difference"}[direction(gap, *by)]
    return f"`{first}` against `{second}`: {column_name(by)} {_gap(by, gap)}, {said}."


def coverage_warning(systems: Mapping[str, Estimates], system: str, by: ColumnKey) -> str | None:
    """What is said where metric mentions decides and can check less than half of the summaries."""
    checked, details = (
        item_of(systems.get(system, {}), ("mentions", name)) for name in ("checked", "details")
    )
    if by[0] != "mentions" or checked is None or details is None or checked.mean >= _CHECKED:
        return None
    return (
        f"Metric mentions can check only {100 * checked.mean:.0f} % of the summaries of {system} "
        f"({details.mean:.1f} names and numbers a text). It knows little of what is made up in the "
        "others: read some, or measure minicheck, geval or qafacteval."
    )


def verdict_text(table: Sequence[Sequence[str]], lines: Sequence[str]) -> str:
    """The verdict for a terminal: its table and its lines."""
    shown = [fill(line, _WIDTH, subsequent_indent="  ") for line in lines]
    return "\n".join([aligned(table), "", *shown])


def _value(column: ColumnKey, value: float) -> str:
    shown = display(*column)
    return f"{shown.text(value)} {shown.unit}".rstrip()


def _gap(column: ColumnKey, gap: Estimate) -> str:
    return f"{display(*column).text(gap.mean, signed=True)} {ends(column, gap, True)}"
