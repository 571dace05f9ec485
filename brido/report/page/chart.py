"""The votes figure as geometry for the page's own SVG, so that it follows light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass

from brido.report.unsupported import VoteBin

SIZE = 200.0


@dataclass(frozen=True)
class Point:
    """A bin in a square of SIZE units, y downwards; `label` is what a reader hears or hovers."""

    x: float
    y: float
    radius: float
    label: str


@dataclass(frozen=True)
class Chart:
    """One ranking's panel."""

    ranking: str
    points: Sequence[Point]
    line: str


def votes_chart(bins: Sequence[VoteBin]) -> list[Chart]:
    """A panel per ranking: pool share across, share of elected candidates up."""
    if not bins:
        return []
    most = max(item.cases for item in bins)
    charts = []
    for ranking in bins[0].elected:
        points = [
            Point(
                round(item.pool * SIZE, 1),
                round((1 - item.elected[ranking]) * SIZE, 1),
                round(3 + 6 * (item.cases / most) ** 0.5, 1),
                f"{item.cases:,} cases: {item.pool:.0%} of the candidates carry it, "
                f"{item.elected[ranking]:.0%} of the elected do",
            )
            for item in bins
        ]
        line = " ".join(f"{point.x},{point.y}" for point in points)
        charts.append(Chart(ranking, points, line))
    return charts
