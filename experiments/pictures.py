"""Pictures of studies: tuning by documents and candidates, and by what electing foretells."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from brido.report.style import COLOURS, MARKERS, drawing
from experiments.numbers import chosen, gaps, interval, pairs
from experiments.plan import Chain
from experiments.rows import Row
from experiments.tables import usual

DOCUMENTS, CANDIDATES = "documents", "candidates"
# Fewer are not a curve, or not a plane.
SIZES, SETTINGS = 3, 10
# The size that a system was tuned on, and its row.
Point = tuple[int, Row]


def draw(folder: Path, name: str, rows: Sequence[Row], chains: Sequence[Chain]) -> list[Path]:
    """Write NAME.png and NAME.svg of a plan that varies a size or has many settings; the PNGs."""
    found = {kind: points(kind, rows, chains) for kind in (DOCUMENTS, CANDIDATES)}
    drawn = {kind: own for kind, own in found.items() if len({size for size, _ in own}) >= SIZES}
    if drawn:
        return [_draw_sizes(folder, name, rows, drawn)]
    if len({row.setting for row in rows}) >= SETTINGS:
        return [_draw_plane(folder, name, rows)]
    return []


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


def _draw_sizes(
    folder: Path, name: str, rows: Sequence[Row], drawn: dict[str, list[Point]]
) -> Path:
    """Up: unsupported test summaries in per cent. Across: the size, in doublings."""
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
            # If two are close, the second one's number is a line lower.
            close = [False, *(b < 1.3 * a for a, b in pairwise(sizes))]
            labels = [f"{chr(10) * near}{size}" for size, near in zip(sizes, close, strict=True)]
            axis.set_xticks(sizes, labels)
            axis.set_xlabel(f"{kind} to tune on")
            axis.set_ylabel("unsupported summaries, %")
            axis.set_ylim(bottom=0)
        axes[0, 0].legend(title="dotted: base", loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return folder / f"{name}.png"


def _line(axis, own: Sequence[Point], place: int) -> None:
    sizes = sorted({size for size, _ in own})
    shares = {size: [100 * row.flags.mean() for its, row in own if its == size] for size in sizes}
    for size, values in shares.items():
        axis.plot([size] * len(values), values, MARKERS[place], color=COLOURS[place], alpha=0.5)
    means = [np.mean(shares[size]) for size in sizes]
    axis.plot(sizes, means, color=COLOURS[place], label=own[0][1].decoding)


def _draw_plane(folder: Path, name: str, rows: Sequence[Row]) -> Path:
    """A point for each chain, in points of unsupported summaries, with 95 % intervals.

    Across: elected minus base on validation documents. Up: tuned minus base on test documents.
    """
    with drawing(folder, name, width=6.4, height=5.2) as axes:
        axis = axes[0, 0]
        axis.axhline(0, color="#444444", linewidth=1)
        axis.axvline(0, color="#444444", linewidth=1)
        for place in dict.fromkeys((row.setting, row.seed) for row in rows):
            chain = [row for row in rows if (row.setting, row.seed) == place]
            across, up = foretold_and_seen(chain)
            axis.plot(across[1:], [up[0]] * 2, color=COLOURS[0], alpha=0.25, linewidth=0.8)
            axis.plot([across[0]] * 2, up[1:], color=COLOURS[0], alpha=0.25, linewidth=0.8)
            axis.plot(across[0], up[0], linestyle="", marker=MARKERS[0], color=COLOURS[0])
        # In the corners that are empty while the check is right.
        for corner, text in (((0.98, 0.02), "tuning helps"), ((0.17, 0.95), "tuning harms")):
            axis.text(*corner, text, transform=axis.transAxes, color="#444444", ha="right")
        axis.set_xlabel("elected - base, validation documents, points")
        axis.set_ylabel("tuned - base, test documents, points")
        axis.set_title("Summaries with something unsupported")
    return folder / f"{name}.png"


def foretold_and_seen(chain: Sequence[Row]) -> tuple[list[float], list[float]]:
    """Elected minus base (validation) and tuned minus base (test): mean and interval in points."""
    way = usual(chain)
    before = chosen(chain, "elected", "", "validation"), chosen(chain, "base", way, "validation")
    after = chosen(chain, "tuned", way), chosen(chain, "base", way)
    across, up = ([100 * v for v in interval(gaps(pairs(*two)))] for two in (before, after))
    return across, up
