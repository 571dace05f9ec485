"""Tables of a study in Markdown: a row for each system and decoding, a column for each function."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from experiments.numbers import difference, rouge, share
from experiments.plan import AT_BASE_LENGTH, BEAMS, Plan, System
from experiments.rows import chosen, has, measured

UNTUNED = {
    "reference": "reference",
    "base": "base",
    "elected": "elected by the vote, nothing tuned",
    "elected by the reference": "elected by the reference, nothing tuned",
}


@dataclass(frozen=True)
class Cell:
    """What a column computes from: rows of one system and decoding, a row for each seed.

    base: base's own output, decoded in the same way. control: the same steps on shuffled scores;
    no rows if the plan names no control.
    """

    own: pd.DataFrame
    base: pd.DataFrame
    control: pd.DataFrame


Column = Callable[[Cell], str]


def _share_of(mark: str) -> Column:
    def column(cell: Cell) -> str:
        found = measured(cell.own)
        return share(found, mark) if has(found, mark) else ""

    return column


def _minus(other: str, mark: str) -> Column:
    def column(cell: Cell) -> str:
        second = getattr(cell, other)
        known = has(measured(cell.own), mark) and has(measured(second), mark)
        return difference(cell.own, second, mark) if known else ""

    return column


def _words(cell: Cell) -> str:
    return f"{measured(cell.own).words.mean():.1f}"


def _rouge(cell: Cell) -> str:
    return "" if set(cell.own.system) == {"reference"} else rouge(measured(cell.own))


# A column is a function of a cell; an empty column is not shown.
COLUMNS: Mapping[str, Column] = {
    "seeds": lambda cell: f"{len(measured(cell.own))}",
    "words": _words,
    "ROUGE-1/2": _rouge,
    "unsupported": _share_of("unsupported"),
    "unsupported - base": _minus("base", "unsupported"),
    "unsupported - shuffled": _minus("control", "unsupported"),
    "well-formed": _share_of("well-formed"),
    "good": _share_of("good"),
    "good - base": _minus("base", "good"),
    "good - shuffled": _minus("control", "good"),
    "sound": _share_of("sound"),
    "sound - base": _minus("base", "sound"),
    "sound - shuffled": _minus("control", "sound"),
}


def tables(rows: pd.DataFrame, plan: Plan) -> list[str]:
    """All tables of a plan: one of its settings if there are several, then one for each setting."""
    settings = list(rows.groupby("setting", sort=False))
    found = [markdown(settings_table(rows, plan))] if len(settings) > 1 else []
    for setting, own in settings:
        base = chosen(own, "base", usual(own))
        size = f"{len(base)} seeds x {len(base.unsupported.iloc[0]):,} test documents"
        found.append(f"**{setting}**: {size}\n\n{markdown(systems_table(own, plan.systems))}")
    return found


def markdown(records: Iterable[Mapping[str, Any]]) -> str:
    """Records as a Markdown table without its empty columns."""
    frame = pd.DataFrame(list(records)).fillna("")
    frame = frame.loc[:, (frame != "").any() | (np.arange(len(frame.columns)) == 0)]
    return frame.to_markdown(index=False, disable_numparse=True)


def settings_table(rows: pd.DataFrame, plan: Plan) -> Iterator[dict[str, str]]:
    """A row for each setting: what electing does to base's output, and its first system to base."""
    first = {chain.setting: next(iter(chain.systems), "") for chain in plan.chains}
    for setting, own in rows.groupby("setting", sort=False):
        way, name = usual(own), first.get(setting, "")
        base, tuned = chosen(own, "base", way), chosen(own, name, way)
        before = chosen(own, "elected", "", "validation"), chosen(own, "base", way, "validation")
        yield {
            "setting": setting,
            "seeds": f"{len(base)}",
            "decoded": way,
            "elected - base, validation": difference(*before),
            "base": share(base),
            "system": name,
            "tuned": "" if tuned.empty else share(tuned),
            "tuned - base": difference(tuned, base),
            "at base's length": difference(chosen(own, name, AT_BASE_LENGTH), base),
        }


def systems_table(own: pd.DataFrame, systems: Mapping[str, System]) -> Iterator[dict[str, str]]:
    """A row for each system of one setting and each way to decode it."""
    others = [name for name in own.system.unique() if name not in {*UNTUNED, *systems}]
    for name in [*UNTUNED, *systems, *others]:
        system = systems.get(name, System())
        written = own[(own.system == name) & (own.split == "test")]
        for decoding in [way for way in written.decoding.unique() if not aside(way)]:
            way = {AT_BASE_LENGTH: BEAMS, "": usual(own)}.get(decoding, decoding)
            base = chosen(own, "base", way) if name != "base" else own[:0]
            cell = Cell(
                chosen(own, name, decoding), base, chosen(own, system.control or "", decoding)
            )
            label = UNTUNED.get(name) or system.label or name
            cells = {key: column(cell) for key, column in COLUMNS.items()}
            yield {"system": label, "decoded": decoding} | cells


def aside(decoding: str) -> bool:
    """Whether a row is a base at another system's length, which older studies measured."""
    return decoding != AT_BASE_LENGTH and (" at " in decoding or " cut to " in decoding)


def usual(rows: pd.DataFrame) -> str:
    """The decoding that settings are compared in: beams if they were measured."""
    found = rows[rows.system == "base"].decoding.unique()
    return BEAMS if BEAMS in found else found[0]
