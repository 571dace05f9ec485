"""The picture of docs/results.md: each run from base to the chosen system, and its control."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from brido.report.style import COLOURS, drawing

PICTURE = "choice"


def draw(folder: Path, runs: Sequence[tuple[str, Sequence[float]]]) -> None:
    """Write choice.png. runs: the setting, and the shares of base, chosen and control, in %."""
    with drawing(folder, PICTURE, width=8.0, height=4.0) as axes:
        axis = axes[0, 0]
        for x, (_, (before, after, control)) in enumerate(runs):
            axis.plot([x, x], [before, after], color=COLOURS[0], linewidth=1.6)
            axis.plot(x, before, "o", color="white", markeredgecolor=COLOURS[0])
            axis.plot(x, after, "o", color=COLOURS[0])
            axis.plot(x, control, "x", color=COLOURS[1])
        _label(axis, [setting for setting, _ in runs])
    (folder / f"{PICTURE}.svg").unlink()


def _label(axis: Any, settings: Sequence[str]) -> None:
    for name in dict.fromkeys(settings):
        where = [x for x, own in enumerate(settings) if own == name]
        axis.axvline(where[-1] + 0.5, color="#cccccc", linewidth=0.8)
        text = textwrap.fill(name, 12, break_on_hyphens=False)
        axis.text(np.mean(where), -3, text, ha="center", va="top", fontsize=6)
    axis.set_xlim(-0.8, len(settings) - 0.2)
    axis.set_xticks([])
    axis.set_ylim(0, 100)
    axis.grid(visible=False, axis="x")
    axis.set_ylabel("good summaries, % of test documents")
    for marker, colour, face, label in (
        ("o", COLOURS[0], "white", "base"),
        ("o", COLOURS[0], COLOURS[0], "chosen"),
        ("x", COLOURS[1], COLOURS[1], "control (shuffled order)"),
    ):
        axis.plot([], [], marker, color=face, markeredgecolor=colour, label=label)
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
