"""The picture of the plane: where electing beats the model's own output, tuning helps."""

from collections.abc import Sequence
from pathlib import Path

from brido.report.style import COLOURS, MARKERS, drawing
from experiments.study.plan import NATIVE
from experiments.study.records import Row, find
from experiments.study.table import interval


def draw(folder: Path, rows: Sequence[Row]) -> Path:
    """Write plane.png and plane.svg, a point for each chain of the plane; the PNG's path.

    Across: elected minus base on validation documents, known before any tuning. Up: tuned minus
    base on test documents. Both in points of unsupported summaries, with 95 % bootstrap intervals
    over documents; every point is as large as every other.
    """
    own = [row for row in rows if row.system == "base" and row.processor == NATIVE]
    own = [row for row in own if row.split == "test"]
    stocks, cleans = (sorted({row.place[side] for row in own}) for side in (0, 1))
    with drawing(folder, "plane", width=6.4, height=5.2) as axes:
        axis = axes[0, 0]
        axis.axhline(0, color="#444444", linewidth=1)
        axis.axvline(0, color="#444444", linewidth=1)
        for row in own:
            colour = COLOURS[cleans.index(row.support_rate)]
            across = _gap(rows, row, "elected", "validation")
            up = _gap(rows, row, "tuned", "test")
            axis.plot(across[1:], [up[0]] * 2, color=colour, alpha=0.25, linewidth=0.8)
            axis.plot([across[0]] * 2, up[1:], color=colour, alpha=0.25, linewidth=0.8)
            marker = MARKERS[stocks.index(row.stock_phrases)]
            axis.plot(across[0], up[0], linestyle="", marker=marker, color=colour)
        # In the corners where no point lies while the check is right.
        for place, text in (((0.98, 0.02), "tuning helps"), ((0.17, 0.95), "tuning harms")):
            axis.text(*place, text, transform=axis.transAxes, color="#444444", ha="right")
        axis.set_xlabel("elected - base, validation documents, points")
        axis.set_ylabel("tuned - base, test documents, points")
        axis.set_title("Summaries with something unsupported")
        handles = [
            axis.plot(
                [], [], color="#444444", linestyle="", marker=marker, label=f"stock {stock:g}"
            )
            for marker, stock in zip(MARKERS, stocks, strict=False)
        ] + [
            axis.plot([], [], color=colour, linewidth=6, label=f"base's corpus {clean:g} supported")
            for colour, clean in zip(COLOURS, cleans, strict=False)
        ]
        axis.figure.legend(
            handles=[handle for (handle,) in handles], loc="outside lower center", ncols=2
        )
    return folder / "plane.png"


def _gap(rows: Sequence[Row], base: Row, system: str, split: str) -> list[float]:
    """Unsupported summaries of a system less base's, of one chain, in points: mean and interval."""
    first, second = (find(rows, base.chain, name, split).flags for name in (system, "base"))
    return [100 * value for value in interval([first - second])]
