"""Tables of a study in Markdown: a row for each system and decoding."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from experiments.numbers import difference, rouge, share
from experiments.plan import AT_BASE_LENGTH, BEAMS, StudyPlan, System
from experiments.rows import chosen, has, measured

Record = dict[str, str]
UNTUNED = {
    "reference": "reference",
    "base": "base",
    "elected": "elected by the vote, nothing tuned",
    "elected by the reference": "elected by the reference, nothing tuned",
}


def cells(own: pd.DataFrame, base: pd.DataFrame, control: pd.DataFrame) -> Record:
    """The columns of a table; one that is empty in all rows is not shown.

    own: the rows of one system and decoding, a row for each seed. base: base's own output, decoded
    in the same way. control: the same steps on shuffled scores; no rows if the plan names none.
    """
    there = measured(own)
    found = {"seeds": f"{len(there)}", "words": "", "ROUGE-1/2": ""}
    if len(there):
        found["words"] = f"{there.words.mean():.1f}"
        found["ROUGE-1/2"] = "" if set(own.system) == {"reference"} else rouge(there)
    for mark in ("unsupported", "well-formed", "good", "sound"):
        found[mark] = share(there, mark) if has(there, mark) else ""
        if mark != "well-formed":
            found[f"{mark} - base"] = _minus(own, base, mark)
            found[f"{mark} - shuffled"] = _minus(own, control, mark)
    return found


def _minus(own: pd.DataFrame, other: pd.DataFrame, mark: str) -> str:
    known = has(measured(own), mark) and has(measured(other), mark)
    return difference(own, other, mark) if known else ""


def tables(rows: pd.DataFrame, plan: StudyPlan, whole: bool = True) -> list[str]:
    """The tables of a plan: one of its settings if there are several, then one for each setting.

    whole: of all settings, not of the plan's first alone.
    """
    settings = {name: rows[rows.setting == name] for name in rows.setting.unique()}
    found = [markdown(settings_table(rows, plan))] if len(settings) > 1 else []
    first = plan.chains[0].setting
    for setting in settings if whole else [name for name in settings if name == first]:
        own = settings[setting]
        base = chosen(own, "base", usual(own))
        size = f"{len(base)} seeds x {len(base.unsupported.iloc[0]):,} test documents"
        found.append(f"**{setting}**: {size}\n\n{markdown(systems_table(own, plan.systems))}")
    return found


def markdown(records: Iterable[Mapping[str, Any]]) -> str:
    """Records as a Markdown table without its empty columns."""
    frame = pd.DataFrame(list(records)).fillna("")
    frame = frame.loc[:, (frame != "").any() | (np.arange(len(frame.columns)) == 0)]
    return frame.to_markdown(index=False, disable_numparse=True)


def settings_table(rows: pd.DataFrame, plan: StudyPlan) -> Iterator[Record]:
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


def systems_table(own: pd.DataFrame, systems: Mapping[str, System]) -> Iterator[Record]:
    """A row for each system of one setting and each way to decode it."""
    for name in [*UNTUNED, *systems]:
        system = systems.get(name, System())
        written = own[(own.system == name) & (own.split == "test")]
        for decoding in written.decoding.unique():
            way = {AT_BASE_LENGTH: BEAMS, "": usual(own)}.get(decoding, decoding)
            base = chosen(own, "base", way) if name != "base" else own[:0]
            control = chosen(own, system.control or "", decoding)
            label = UNTUNED.get(name) or system.label or name
            place = {"system": label, "decoded": decoding}
            yield place | cells(chosen(own, name, decoding), base, control)


def usual(rows: pd.DataFrame) -> str:
    """The decoding that settings are compared in: beams if they were measured."""
    found = rows[rows.system == "base"].decoding.unique()
    return BEAMS if BEAMS in found else found[0]
