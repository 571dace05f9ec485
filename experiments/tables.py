"""Tables of studies in Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.numbers import gaps, pairs, percent, points

Record = dict[str, str]


def markdown(records: Iterable[Mapping[str, Any]]) -> str:
    """Records as a Markdown table without its empty columns."""
    frame = pd.DataFrame(list(records)).fillna("")
    frame = frame.loc[:, (frame != "").any() | (np.arange(len(frame.columns)) == 0)]
    return frame.to_markdown(index=False, disable_numparse=True)


def cells(rows: pd.DataFrame, system: str, others: Sequence[str] = ("base", "control")) -> Record:
    """A system's numbers on test documents: means over runs, differences paired by document."""
    own = [pair[0] for pair in pairs(rows, system, system)]
    found = {"seeds": f"{len(own)}"}
    found |= {mark: percent(own, mark) for mark in ("unsupported", "whole", "good")}
    for other in others:
        same = system == other
        found[f"good - {other}"] = "" if same else points(gaps(pairs(rows, system, other)))
    for label, name in (("ROUGE-1", "r1"), ("ROUGE-2", "r2"), ("words", "words")):
        found[label] = f"{np.mean([getattr(row, name) for row in own]):.1f}"
    return found


def systems_table(rows: pd.DataFrame) -> str:
    """A row for each system of one setting."""
    systems = rows[rows.split == "test"].system.unique()
    names = ["base", *(name for name in systems if name not in ("base", "reference"))]
    return markdown({"system": name} | cells(rows, name) for name in names)
