"""One look for every figure: calm, readable in grey and by the colour-blind."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
