"""The picture of the evidence: how what tuning gains grows with documents and candidates."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from brido.report.style import COLOURS, MARKERS, drawing
from experiments.evidence.records import Row

# The names of a plan's systems that are points of it; "tuned" has all candidates.
POINT = re.compile(r"(\d+) (documents|candidates)")


def draw(folder: Path, name: str, rows: Sequence[Row]) -> Path | None:
    """Write NAME.png and NAME.svg, None where no system is a point of them.

    Up: share of unsupported test summaries in per cent, a mark a chain, a line through their means.
    Across: the documents or candidates that it was tuned on, in doublings.
    """
    points = [row for row in rows if POINT.fullmatch(row.system) and row.split == "test"]
    points = [row for row in points if " at " not in row.decoding]
    if not points:
        return None
    kinds = sorted({POINT.fullmatch(row.system)[2] for row in points}, reverse=True)
    bases = {(row.setting, row.seed) for row in points}
    base = [row for row in rows if row.system == "base" and row.split == "test"]
    base = [row for row in base if (row.setting, row.seed) in bases]
    with drawing(folder, name, height=3.6, columns=len(kinds)) as axes:
        for axis, kind in zip(axes[0], kinds, strict=True):
            own = [row for row in points if row.system.endswith(kind)]
            for place, decoding in enumerate(dict.fromkeys(row.decoding for row in own)):
                _line(axis, [row for row in own if row.decoding == decoding], place, decoding)
                level = [100 * row.flags.mean() for row in base if row.decoding == decoding]
                axis.axhline(np.mean(level), color=COLOURS[place], linestyle=":", linewidth=1)
            axis.set_xscale("log", base=2)
            sizes = sorted({_size(row) for row in own})
            axis.set_xticks(sizes, [f"{size}" for size in sizes])
            axis.set_xlabel(f"{kind} to tune on")
            axis.set_ylabel("unsupported summaries, %")
            axis.set_ylim(bottom=0)
        axes[0, 0].legend(title="dotted: base")
    return folder / f"{name}.png"


def _size(row: Row) -> int:
    return int(POINT.fullmatch(row.system)[1])


def _line(axis, rows: Sequence[Row], place: int, label: str) -> None:
    sizes = sorted({_size(row) for row in rows})
    shares = {
        size: [100 * row.flags.mean() for row in rows if _size(row) == size] for size in sizes
    }
    for size, values in shares.items():
        axis.plot([size] * len(values), values, MARKERS[place], color=COLOURS[place], alpha=0.5)
    axis.plot(sizes, [np.mean(shares[size]) for size in sizes], color=COLOURS[place], label=label)
