"""Which system a run keeps: the best one on validation documents, or base.

Arithmetic alone: arrays of one number a document, the same documents for every system.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brido.report.settings import ChoiceSettings
from brido.stats import FEWEST
from brido.utils.errors import BridoError
from brido.utils.stored import json_number

# A hair more than a limit is rounding.
_HAIR = 1e-9


@dataclass(frozen=True)
class Compared:
    """A system on D validation documents: each array is float64 [D], NaN where not measured.

    quality: what decides. rouge: ROUGE-1 from 0 to 100, None without references.
    words: the lengths of its summaries. ids: which documents these are, the same for every system.
    picked: the check that decides has picked its summaries, so it cannot be chosen by it.
    """

    name: str
    quality: NDArray[np.float64]
    words: NDArray[np.float64]
    rouge: NDArray[np.float64] | None = None
    ids: Sequence[str] = ()
    picked: bool = False


@dataclass(frozen=True)
class Choice:
    """The system that is kept. best: the best one that meets the conditions, base included.

    reason: "best" | "base is best" | "not clearly better" (than base) | "few documents".
    documents: how many both base and the best system are measured on. systems: of each quality,
    rouge, words, difference and standard_error (of the paired difference of quality to base, on the
    documents that have both; NaN for base and where none has), and left_out: the keys of section
    choice whose condition it does not meet; by where the check that decides has picked its
    summaries.
    """

    chosen: str
    best: str
    reason: str
    documents: int
    systems: dict[str, dict[str, Any]]

    def plain(self) -> dict[str, Any]:
        """The choice as metrics/choice.json has it."""
        systems = {
            name: {
                key: json_number(value) if isinstance(value, float) else value
                for key, value in row.items()
            }
            for name, row in self.systems.items()
        }
        return vars(self) | {"systems": systems}


def choose(
    systems: Sequence[Compared],
    settings: ChoiceSettings,
    lower_is_better: bool = False,
    reference_words: float | None = None,
) -> Choice:
    """Choose among the systems, of which base is the first.

    A system must lose at most `rouge_loss` points of ROUGE-1 against base. Its mean length may
    differ by the share `length_change` from base's or from the references', which count because a
    base may copy (reference_words; None without references). Of these the one with the largest
    paired difference to base, a mean over the documents that both are measured on, is the best, the
    first of equals. Base stays unless it is better by more than `standard_errors` times the
    standard error of that difference, s / sqrt(D) (s: the differences' standard deviation, with
    D - 1). Where the best system and base are both measured on fewer than FEWEST documents, base
    stays.

    Raises:
        BridoError: base is not first, a system was not measured at all, or the systems were
            measured on different documents.
    """
    _check(systems)
    base = systems[0]
    lengths = [float(base.words.mean()), *([reference_words] if reference_words else [])]
    gaps = {one.name: one.quality - base.quality for one in systems}
    rows = {one.name: _row(one, base, gaps[one.name], settings, lengths) for one in systems}
    sign = -1 if lower_is_better else 1
    # Not by mean quality: a system may be measured on the easier documents alone. NaN is base's own
    # gain, or that of a system that shares no document with it: they gain 0, and base comes first.
    gains = {name: sign * row["difference"] for name, row in rows.items() if not row["left_out"]}
    best = max(gains, key=lambda name: np.nan_to_num(gains[name]))
    documents = int(np.isfinite(gaps[best]).sum())
    needed = settings.standard_errors * rows[best]["standard_error"] + _HAIR
    chosen, reason = best, "best"
    if documents < FEWEST:
        chosen, reason = "base", "few documents"
    elif best == "base":
        reason = "base is best"
    elif not gains[best] > needed:
        chosen, reason = "base", "not clearly better"
    return Choice(chosen, best, reason, documents, rows)


def _check(systems: Sequence[Compared]) -> None:
    if not systems or systems[0].name != "base":
        raise BridoError("the first system of a choice must be base")
    base = systems[0]
    for one in systems:
        if list(one.ids) != list(base.ids) or len(one.quality) != len(base.quality):
            raise BridoError(
                f"{one.name} and base were measured on different validation documents "
                f"({len(one.quality):,} and {len(base.quality):,}): `dvc repro choose` makes the "
                "tables agree"
            )
        if np.isnan(one.quality).all():
            raise BridoError(
                f"choice.by was not measured for {one.name}: name a column that has numbers for "
                "every system"
            )


def _row(
    system: Compared,
    base: Compared,
    gaps: NDArray[np.float64],
    settings: ChoiceSettings,
    lengths: Sequence[float],
) -> dict[str, Any]:
    gaps = gaps[~np.isnan(gaps)] if system is not base else np.array([])
    difference = float(gaps.mean()) if len(gaps) else math.nan
    error = float(gaps.std(ddof=1) / math.sqrt(len(gaps))) if len(gaps) > 1 else math.nan
    words, rouge, loss = float(system.words.mean()), None, 0.0
    if system.rouge is not None and base.rouge is not None:
        rouge = float(np.nanmean(system.rouge))
        loss = float(np.nanmean(base.rouge)) - rouge
    # The share by which its length differs from the nearest allowed one.
    change = min(abs(words - length) / length if length else 0.0 for length in lengths)
    limits = {
        "rouge_loss": (loss, settings.rouge_loss),
        "length_change": (change, settings.length_change),
    }
    left_out = [
        key for key, (value, limit) in limits.items() if limit is not None and value > limit + _HAIR
    ]
    return {
        "quality": float(np.nanmean(system.quality)),
        "rouge": rouge,
        "words": words,
        "difference": difference,
        "standard_error": error,
        "left_out": ["by"] if system.picked else left_out,
    }
