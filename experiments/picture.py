"""The picture of docs/results.md: each run from base to the kept system, and its control."""

import textwrap
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

# Of Okabe and Ito's palette, which the colour-blind can tell apart; one is darker in grey.
KEPT, CONTROL = "#0072B2", "#D55E00"
_STYLE: dict[Any, Any] = {
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "savefig.dpi": 160,
}


def draw(folder: Path, runs: Sequence[tuple[str, Sequence[float]]]) -> None:
    """Write choice.png, of equal bytes for equal runs.

    runs: the setting, and the shares of base, kept and control, in %.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    places = _places([setting for setting, _ in runs])
    with pyplot.rc_context(_STYLE):
        figure, axis = pyplot.subplots(figsize=(8.0, 4.0))
        for x, (_, (before, after, control)) in zip(places, runs, strict=True):
            axis.plot([x, x], [before, after], color=KEPT, linewidth=1.6)
            axis.plot(x, before, "o", color="white", markeredgecolor=KEPT)
            axis.plot(x, after, "o", color=KEPT)
            axis.plot(x, control, "x", color=CONTROL)
        _label(axis, [setting for setting, _ in runs], places)
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(BytesIO(), format="svg")  # makes room for the labels
        figure.savefig(folder / "choice.png", metadata={"Software": None})
        pyplot.close(figure)


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
        ("o", KEPT, "white", "base"),
        ("o", KEPT, KEPT, "kept"),
        ("x", CONTROL, CONTROL, "control (shuffled order)"),
    ):
        axis.plot([], [], marker, color=face, markeredgecolor=colour, label=label)
    axis.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
