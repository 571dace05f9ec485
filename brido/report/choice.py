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
class Row:
    """A system in the table of a choice.

    difference, standard_error: of the paired difference of quality to base, on the documents that
    have both; NaN for base and where none has. left_out: the keys of section choice whose condition
    it does not meet; by where the check that decides has picked its summaries.
    """

    name: str
    quality: float
    words: float
    rouge: float | None
    difference: float
    standard_error: float
    documents: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    """The system that is kept. best: the best one that meets the conditions, base included.

    reason: "best" | "base is best" | "not clearly better" (than base) | "few documents".
    documents: how many both base and the best system are measured on.
    """

    chosen: str
    best: str
    reason: str
    documents: int
    rows: tuple[Row, ...]

    def plain(self) -> dict[str, Any]:
        """The choice as metrics/choice.json has it."""
        systems = {
            row.name: {
                "quality": json_number(row.quality),
                "rouge": row.rouge if row.rouge is None else json_number(row.rouge),
                "words": json_number(row.words),
                "difference": json_number(row.difference),
                "standard_error": json_number(row.standard_error),
                "left_out": list(row.left_out),
            }
            for row in self.rows
        }
        return {
            "chosen": self.chosen,
            "best": self.best,
            "reason": self.reason,
            "documents": self.documents,
            "systems": systems,
        }


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
    rows = tuple(_row(system, base, settings, lengths) for system in systems)
    eligible = [row for row in rows if not row.left_out]
    sign = -1 if lower_is_better else 1
    # Not by mean quality: a system may be measured on the easier documents alone. NaN is base's own
    # gain, or that of a system that shares no document with it: they gain 0, and base comes first.
    best = max(eligible, key=lambda row: sign * np.nan_to_num(row.difference))
    chosen, reason = best.name, "best"
    if best.documents < FEWEST:
        chosen, reason = base.name, "few documents"
    elif best.name == base.name:
        reason = "base is best"
    elif not sign * best.difference > settings.standard_errors * best.standard_error + _HAIR:
        chosen, reason = base.name, "not clearly better"
    return Choice(chosen, best.name, reason, best.documents, rows)


def _check(systems: Sequence[Compared]) -> None:
    if not systems or systems[0].name != "base":
        raise BridoError("the first system of a choice must be base")
    base, size = systems[0], len(systems[0].quality)
    for one in systems:
        if list(one.ids) != list(base.ids) or {len(one.quality), len(one.words)} != {size}:
            raise BridoError(
                f"{one.name} and base were measured on different validation documents "
                f"({len(one.quality):,} and {size:,}): `dvc repro choose` makes the tables agree"
            )
    empty = [one.name for one in systems if np.isnan(one.quality).all()]
    if empty:
        raise BridoError(
            f"choice.by was not measured for {', '.join(empty)}: name a column that has numbers "
            "for every system"
        )


def _row(
    system: Compared, base: Compared, settings: ChoiceSettings, lengths: Sequence[float]
) -> Row:
    gaps = system.quality - base.quality
    gaps = gaps[~np.isnan(gaps)]
    count, is_base = len(gaps), system is base
    difference = float(gaps.mean()) if count and not is_base else math.nan
    error = float(gaps.std(ddof=1) / math.sqrt(count)) if count > 1 and not is_base else math.nan
    words = float(system.words.mean())
    rouge = own_rouge = None
    if system.rouge is not None and base.rouge is not None:
        rouge, own_rouge = float(np.nanmean(system.rouge)), float(np.nanmean(base.rouge))
    # What is not measured, or may be anything, loses and changes nothing.
    loss = 0.0 if rouge is None or own_rouge is None else own_rouge - rouge
    limits = {
        "rouge_loss": (loss, settings.rouge_loss),
        "length_change": (_nearest(words, lengths), settings.length_change),
    }
    left_out = [
        key for key, (value, limit) in limits.items() if limit is not None and value > limit + _HAIR
    ]
    left_out = ["by"] if system.picked else left_out
    quality = float(np.nanmean(system.quality))
    return Row(system.name, quality, words, rouge, difference, error, count, tuple(left_out))


def _nearest(words: float, lengths: Sequence[float]) -> float:
    """The share by which a length differs from the nearest of some."""
    return min(abs(words - length) / length if length else 0.0 for length in lengths)
