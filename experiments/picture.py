"""The picture of docs/results.md: each run from base to the kept system, and its control."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.drawing import COLOURS, drawing

PICTURE = "choice"


def draw(folder: Path, runs: Sequence[tuple[str, Sequence[float]]]) -> None:
    """Write choice.png. runs: the setting, and the shares of base, kept and control, in %."""
    with drawing(folder, PICTURE, width=8.0, height=4.0) as axes:
        axis = axes[0, 0]
        places = _places([setting for setting, _ in runs])
        for x, (_, (before, after, control)) in zip(places, runs, strict=True):
            axis.plot([x, x], [before, after], color=COLOURS[0], linewidth=1.6)
            axis.plot(x, before, "o", color="white", markeredgecolor=COLOURS[0])
            axis.plot(x, after, "o", color=COLOURS[0])
            axis.plot(x, control, "x", color=COLOURS[1])
        _label(axis, [setting for setting, _ in runs], places)
    (folder / f"{PICTURE}.svg").unlink()


def _places(settings: Sequence[str]) -> list[int]:
    """A place for each run, and room for a label between settings."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(settings))}
    return [x + 3 * numbers[name] for x, name in enumerate(settings)]


def _label(axis: Any, settings: Sequence[str], places: Sequence[int]) -> None:
    for name in dict.fromkeys(settings):
        where = [x for x, own in zip(places, settings, strict=True) if own == name]
        if where[-1] < places[-1]:
            axis.axvline(where[-1] + 2, color="#cccccc", linewidth=0.8)
        text = textwrap.fill(name, 12 if len(where) > 1 else 8)
        axis.text(np.mean(where), -3, text, ha="center", va="top", fontsize=6)
    axis.set_xlim(-2, places[-1] + 2)
    axis.set_xticks([])
    axis.set_ylim(0, 100)
    axis.grid(visible=False, axis="x")
    axis.set_ylabel("good summaries, % of test documents")
    for marker, colour, face, label in (
        ("o", COLOURS[0], "white", "base"),
        ("o", COLOURS[0], COLOURS[0], "kept"),
        ("x", COLOURS[1], COLOURS[1], "control (shuffled order)"),
    ):
        axis.plot([], [], marker, color=face, markeredgecolor=colour, label=label)
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
