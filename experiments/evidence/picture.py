"""The picture of the evidence: how what tuning gains grows with documents and candidates."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from brido.report.style import COLOURS, MARKERS, drawing
from experiments.evidence.plan import Chain
from experiments.evidence.records import Row

DOCUMENTS, CANDIDATES = "documents", "candidates"
# Fewer sizes are no line.
SIZES = 3
# A summary of a system that was tuned on so many of something.
Point = tuple[int, Row]


def draw(folder: Path, name: str, rows: Sequence[Row], chains: Sequence[Chain]) -> Path | None:
    """Write NAME.png and NAME.svg, None where a plan measured fewer than three sizes of anything.

    Up: share of unsupported test summaries in per cent, a mark a chain, a line through their means.
    Across: the documents or candidates that it was tuned on, in doublings.
    """
    found = {kind: points(kind, rows, chains) for kind in (DOCUMENTS, CANDIDATES)}
    drawn = {kind: own for kind, own in found.items() if len({size for size, _ in own}) >= SIZES}
    if not drawn:
        return None
    base = [row for row in rows if row.system == "base" and row.split == "test"]
    with drawing(folder, name, height=3.6, columns=len(drawn)) as axes:
        for axis, (kind, own) in zip(axes[0], drawn.items(), strict=True):
            places = {(row.setting, row.seed) for _, row in own}
            for place, decoding in enumerate(dict.fromkeys(row.decoding for _, row in own)):
                _line(axis, [point for point in own if point[1].decoding == decoding], place)
                level = [
                    100 * row.flags.mean()
                    for row in base
                    if row.decoding == decoding and (row.setting, row.seed) in places
                ]
                axis.axhline(np.mean(level), color=COLOURS[place], linestyle=":", linewidth=1)
            axis.set_xscale("log", base=2)
            axis.minorticks_off()
            sizes = sorted({size for size, _ in own})
            # Where two stand close, the second one's number is a line lower.
            close = [False, *(b < 1.3 * a for a, b in pairwise(sizes))]
            labels = [f"{chr(10) * near}{size}" for size, near in zip(sizes, close, strict=True)]
            axis.set_xticks(sizes, labels)
            axis.set_xlabel(f"{kind} to tune on")
            axis.set_ylabel("unsupported summaries, %")
            axis.set_ylim(bottom=0)
        axes[0, 0].legend(title="dotted: base", loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return folder / f"{name}.png"


def points(kind: str, rows: Sequence[Row], chains: Sequence[Chain]) -> list[Point]:
    """The test rows of the systems that differ in this alone, with their sizes."""
    found = []
    for chain in chains:
        systems = {
            name: (
                system.documents or chain.params["documents"]["train"],
                system.candidates or chain.params["generation"]["base"]["num_candidates"],
            )
            for name, system in chain.systems.items()
            if not system.changes
        }
        cut = [name for name in systems if chain.systems[name].candidates]
        if kind == DOCUMENTS:
            sizes = {name: size for name, (size, _) in systems.items() if name not in cut}
        else:
            # Of as many documents as those that were cut.
            like = {systems[name][0] for name in cut}
            sizes = {name: size for name, (many, size) in systems.items() if many in like}
        found += [
            (sizes[row.system], row)
            for row in rows
            if (row.setting, row.seed) == (chain.setting, chain.seed) and row.system in sizes
            if row.split == "test" and not row.fitted
        ]
    return found


def _line(axis, own: Sequence[Point], place: int) -> None:
    sizes = sorted({size for size, _ in own})
    shares = {size: [100 * row.flags.mean() for its, row in own if its == size] for size in sizes}
    for size, values in shares.items():
        axis.plot([size] * len(values), values, MARKERS[place], color=COLOURS[place], alpha=0.5)
    means = [np.mean(shares[size]) for size in sizes]
    axis.plot(sizes, means, color=COLOURS[place], label=own[0][1].decoding)
