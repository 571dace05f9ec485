"""One look for every figure, and the report's figure: every headline number against the length.

The look is calm, readable in grey and by the colour-blind.
"""

import contextlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from brido.report.display import display, metric_label
from brido.report.metrics import Estimate, Estimates
from brido.report.summary import headline_columns, item_of

# Okabe and Ito's palette, ordered so that neighbours differ in lightness too; markers differ as
# well, so that a figure printed in grey says the same. One marker more than colours: a further
# round repeats no pair.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_STYLE: dict[Any, Any] = {
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
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
    # Without a fixed salt the SVG's ids, and so its bytes, would change from run to run.
    "svg.hashsalt": "brido",
    "svg.fonttype": "path",
    "savefig.dpi": 160,
}


@contextlib.contextmanager
def drawing(
    folder: Path, name: str, width: float, height: float, rows: int = 1, columns: int = 1
) -> Iterator[Any]:
    """Axes [rows, columns] in the house style; saved as NAME.svg and NAME.png at the end.

    `width` and `height` are inches of one panel. Equal content makes equal bytes.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(
            rows, columns, figsize=(width * columns, height * rows), squeeze=False
        )
        try:
            yield axes
            folder.mkdir(parents=True, exist_ok=True)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            figure.savefig(folder / f"{name}.png", metadata={"Software": None})
        finally:
            pyplot.close(figure)


def length_figure(
    folder: Path,
    systems: Mapping[str, Estimates],
    lengths: Mapping[str, Estimate],
) -> None:
    """Write length.svg and length.png: a point a system, intervals as bars."""
    shown = [column for column in headline_columns(systems) if column[1] != "length"]
    columns = min(3, max(len(shown), 1))
    rows = max(math.ceil(len(shown) / columns), 1)
    with drawing(folder, "length", 3.3, 2.6, rows, columns) as grid:
        axes, unused = grid.flat[: len(shown)], grid.flat[len(shown) :]
        for axis in unused:
            axis.set_axis_off()
        for (metric, submetric), axis in zip(shown, axes, strict=True):
            column = display(metric, submetric)
            for index, (system, estimates) in enumerate(systems.items()):
                across = lengths[system]
                item = item_of(estimates, (metric, submetric))
                if item is None:
                    continue
                low, mean, high = (
                    column.factor * value for value in (item.low, item.mean, item.high)
                )
                axis.errorbar(
                    across.mean, mean,
                    xerr=[[across.mean - across.low], [across.high - across.mean]],
                    yerr=[[mean - low], [high - mean]], label=system, capsize=2, elinewidth=1,
                    color=COLOURS[index % len(COLOURS)], marker=MARKERS[index % len(MARKERS)],
                    linestyle="none",
                )  # fmt: skip
            axis.set(
                xlabel="mean length (words)", ylabel=f"{metric_label(metric)}: {column.heading}"
            )
        # A system may be missing in some panels (the reference has no ROUGE): look in all of them.
        found = {
            label: handle
            for axis in axes
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        named = {system: found[system] for system in systems if system in found}
        grid[0, 0].figure.legend(
            named.values(), named.keys(), loc="outside upper right", ncols=len(systems)
        )
