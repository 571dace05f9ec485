"""The report's figure, as SVG and PNG: every headline number against the length."""

from collections.abc import Mapping
from pathlib import Path

from brido.report.display import display, metric_label
from brido.report.metrics import Estimate, Estimates
from brido.report.style import COLOURS, MARKERS, panels
from brido.report.summary import headline_columns, item_of


def length_figure(
    folder: Path,
    systems: Mapping[str, Estimates],
    lengths: Mapping[str, Estimate],
) -> None:
    """Write length.svg and length.png: a point a system, intervals as bars."""
    shown = [column for column in headline_columns(systems) if column[1] != "length"]
    with panels(folder, "length", len(shown), height=2.6) as (figure, axes):
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
        figure.legend(named.values(), named.keys(), loc="outside upper right", ncols=len(systems))
