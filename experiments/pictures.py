"""Pictures of studies: what tuning does by size, and by what electing sees before."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from brido.report.style import COLOURS, MARKERS, drawing
from experiments.numbers import gaps, interval
from experiments.plan import Plan
from experiments.rows import by_chain, chosen, marks
from experiments.tables import usual

DOCUMENTS, CANDIDATES = "documents", "candidates"


def draw(plan: Plan, rows: pd.DataFrame) -> list[Path]:
    """Write the picture that the plan names as NAME.png and NAME.svg; the PNGs written."""
    drawers = {"sizes": _draw_sizes, "plane": _draw_plane}
    return [drawers[plan.picture](plan, rows)] if plan.picture else []


def sized(kind: str, rows: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """The test rows of the systems that differ in this alone: size, unsupported in per cent."""
    found = []
    for chain in plan.chains:
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
        own = rows[(rows.setting == chain.setting) & (rows.seed == chain.seed)]
        own = own[own.system.isin(list(sizes)) & (own.split == "test")]
        own = own[own.decoding.isin(list(chain.decodings))]
        found.append(own.assign(size=own.system.map(sizes)))
    every = pd.concat(found).astype({"size": int})
    return every.assign(unsupported=[100 * one.mean() for one in marks(every, "unsupported")])


def _draw_sizes(plan: Plan, rows: pd.DataFrame) -> Path:
    """Up: unsupported test summaries in per cent. Across: the size, in doublings."""
    with drawing(plan.folder, plan.name, height=3.6, columns=2) as axes:
        for axis, kind in zip(axes[0], (DOCUMENTS, CANDIDATES), strict=True):
            found = sized(kind, rows, plan)
            places = set(zip(found.setting, found.seed, strict=True))
            chains = [own for place, own in by_chain(rows) if place in places]
            for place, (decoding, own) in enumerate(found.groupby("decoding", sort=False)):
                look = {"color": COLOURS[place]}
                axis.plot(own["size"], own.unsupported, MARKERS[place], alpha=0.5, **look)
                axis.plot(own.groupby("size").unsupported.mean(), label=decoding, **look)
                base = pd.concat([chosen(chain, "base", decoding) for chain in chains])
                level = 100 * np.mean([one.mean() for one in marks(base, "unsupported")])
                axis.axhline(level, linestyle=":", linewidth=1, **look)
            _ticks(axis, sorted(set(found["size"])))
            axis.set_xlabel(f"{kind} to tune on")
            axis.set_ylabel("unsupported summaries, %")
            axis.set_ylim(bottom=0)
        axes[0, 0].legend(title="dotted: base", loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return plan.folder / f"{plan.name}.png"


def _ticks(axis, sizes: Sequence[int]) -> None:
    """A tick for each size, in doublings; of two that are close the second one is a line lower."""
    axis.set_xscale("log", base=2)
    axis.minorticks_off()
    close = [False, *(b < 1.3 * a for a, b in pairwise(sizes))]
    labels = [f"{chr(10) * near}{size}" for size, near in zip(sizes, close, strict=True)]
    axis.set_xticks(sizes, labels)


def _draw_plane(plan: Plan, rows: pd.DataFrame) -> Path:
    """A point for each chain, in points of unsupported summaries, with 95 % intervals.

    Across: elected minus base on validation documents. Up: tuned minus base on test documents.
    """
    with drawing(plan.folder, plan.name, width=6.4, height=5.2) as axes:
        axis = axes[0, 0]
        axis.axhline(0, color="#444444", linewidth=1)
        axis.axvline(0, color="#444444", linewidth=1)
        for _, chain in by_chain(rows):
            across, up = seen_and_done(chain)
            axis.plot(across[1:], [up[0]] * 2, color=COLOURS[0], alpha=0.25, linewidth=0.8)
            axis.plot([across[0]] * 2, up[1:], color=COLOURS[0], alpha=0.25, linewidth=0.8)
            axis.plot(across[0], up[0], linestyle="", marker=MARKERS[0], color=COLOURS[0])
        # In the corners that are empty while the check is right.
        for corner, text in (((0.98, 0.02), "tuning helps"), ((0.17, 0.95), "tuning harms")):
            axis.text(*corner, text, transform=axis.transAxes, color="#444444", ha="right")
        axis.set_xlabel("elected - base, validation documents, points")
        axis.set_ylabel("tuned - base, test documents, points")
        axis.set_title("Summaries with something unsupported")
    return plan.folder / f"{plan.name}.png"


def seen_and_done(chain: pd.DataFrame) -> tuple[list[float], list[float]]:
    """Elected minus base (validation) and tuned minus base (test): mean and interval in points."""
    way = usual(chain)
    before = chosen(chain, "elected", "", "validation"), chosen(chain, "base", way, "validation")
    after = chosen(chain, "tuned", way), chosen(chain, "base", way)
    across, up = ([100 * value for value in interval(gaps(*two))] for two in (before, after))
    return across, up
