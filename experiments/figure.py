"""docs/paper.png: what alpha and eta change, in the paper and here.

python -m experiments.figure
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from brido.settings.load import read_yaml
from brido.utils.errors import run_command
from experiments.numbers import gaps, interval
from experiments.tables import PAPER, compared

PICTURE = Path("docs/paper.png")
# Panels: the differences of each, in the order of the axis; None is what they are differences to.
PANELS: dict[str, dict[str, str | None]] = {
    "alpha, the weight of the reference": {
        "0": None, "1": "alpha 1 - alpha 0", "N - 1": "alpha N - 1 - alpha 0",
        "inf": "alpha inf - alpha 0",
    },
    "eta, the diversity penalty": {
        "0.1": "eta 0.1 - eta 1", "0.3": "eta 0.3 - eta 1", "1": None, "3": "eta 3 - eta 1",
    },
}  # fmt: skip
TEXTS = {"XSum": "s", "CNN/DM": "D"}


def draw() -> None:
    """Draw both panels: means and Student's intervals here, the paper's numbers beside them."""
    figure = Figure(figsize=(9, 3.4), layout="constrained", dpi=130)
    axes = figure.subplots(1, 2, sharey=True)
    here, paper = compared(), read_yaml(PAPER)
    for axis, (name, values) in zip(axes, PANELS.items(), strict=True):
        names = list(values.values())
        _draw_here(axis, [gaps(here[name]) if name else [0.0] for name in names])
        _draw_paper(axis, [paper[name]["paper: F1"] if name else "0 / 0" for name in names])
        axis.set(xlabel=name, xticks=range(len(values)), xticklabels=values)
    axes[0].set_ylabel("minus alpha 0, or eta 1, in points")
    axes[0].legend(loc="lower left", frameon=False, fontsize=8)
    figure.savefig(PICTURE, metadata={"Software": None})


def _draw_here(axis: Axes, runs: Sequence[Sequence[float]]) -> None:
    """runs: of each difference what every run has; one value where it is nought by definition."""
    means = np.array([np.mean(values) for values in runs])
    low = np.array([interval(values)[0] if len(values) > 1 else 0.0 for values in runs])
    axis.axhline(0, color="0.8", linewidth=1)
    axis.errorbar(
        np.arange(len(runs)), means, yerr=means - low, marker="o", capsize=3, color="C0",
        label="good summaries here, three runs",
    )  # fmt: skip


def _draw_paper(axis: Axes, printed: Sequence[str]) -> None:
    """printed: of each difference XSum / CNN/DM, a dash where the paper has none."""
    for place, (text, marker) in enumerate(TEXTS.items()):
        parts = [both.split(" / ")[place] for both in printed]
        values = [np.nan if part == "-" else float(part) for part in parts]
        spots = np.arange(len(values)) + 0.08 * (place + 1)
        label = f"QAFactEval in the paper, {text}"
        axis.plot(spots, values, marker, color=f"C{place + 1}", label=label)


if __name__ == "__main__":
    run_command(draw)
