"""How runs end: base, the kept system, the control, and the best in hindsight."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.numbers import points
from experiments.picture import draw
from experiments.planned import runs_of, settings
from experiments.replay import (
    Options,
    always,
    by_default,
    by_shipped,
    chosen_by,
    counts,
    gains,
    losses,
    regret,
)
from experiments.rows import marked, read_seconds
from experiments.tables import Record

# Ten points more good summaries is what the claim promises.
PROMISED = 0.1

# The four ends of a run: base, and what is kept, the control, and the best in hindsight.
ENDS: dict[str, Callable[[Options], str | None]] = {
    "base": always("base"),
    "kept": by_default,
    "control": always("control"),
    "best in hindsight": lambda run: run.best,
}


def ends(runs: Sequence[Options], value: Callable[[Options, str], float], form: str) -> str:
    """A cell with the mean of a value for the four ends: `base → kept / control / best`."""
    means = []
    for rule in ENDS.values():
        values = [value(run, name) for run, name in chosen_by(rule, runs)]
        known = [one for one in values if not np.isnan(one)]
        means.append(format(np.mean(known), form) if known else "-")
    return "" if set(means) == {"-"} else means[0] + " → " + " / ".join(means[1:])


def share(mark: str) -> Callable[[Options, str], float]:
    """The share of a system's test documents with a mark, in per cent."""
    return lambda run, name: 100 * float(marked(run.test[name], mark).mean())


def regimes() -> Iterator[Record]:
    """What a run ends with, in good summaries."""
    seconds = read_seconds()
    for setting in settings():
        runs = runs_of(setting)
        won = gains(runs, by_default)
        minutes = seconds[seconds.setting == setting].seconds.mean() / 60
        possible = gains(runs, ENDS["best in hindsight"])
        kept = counts(runs, by_default)
        yield {
            "regime": setting,
            "runs": f"{len(runs)}",
            "good: base → kept / control / best in hindsight": ends(runs, share("good"), ".1f"),
            "kept - base": points(won),
            "worst run": f"{100 * min(one.mean() for one in won):+.1f}",
            "lost": f"{losses(runs, by_default)[0]}",
            "ten points better (possible)": f"{promised(won)} ({promised(possible)})",
            "kept - control": points(gains(runs, by_default, "control")),
            "regret": f"{regret(runs, by_default):.1f}",
            "among the systems of `params.yaml`": points(gains(runs, by_shipped)),
            "which was kept": ", ".join(f"{name} {count}" for name, count in kept.items()),
            "minutes": "" if np.isnan(minutes) else f"{minutes:.0f}",
        }


def promised(won: Sequence[NDArray[np.float64]]) -> int:
    """How many runs gain what the claim promises."""
    return sum(values.mean() > PROMISED - 1e-9 for values in won)


def ending() -> Iterator[Record]:
    """The other measures of the four ends."""

    def mean(column: str, factor: float = 1.0) -> Callable[[Options, str], float]:
        return lambda run, name: factor * getattr(run.test[name], column)

    columns: dict[str, tuple[Callable[[Options, str], float], str]] = {
        "unsupported (the same four)": (share("unsupported"), ".1f"),
        "whole": (share("whole"), ".1f"),
        "ROUGE-1": (mean("r1"), ".1f"),
        "ROUGE-2": (mean("r2"), ".1f"),
        "words": (mean("words"), ".1f"),
        "details": (mean("details"), ".2f"),
        "of them supported": (mean("supported", 100), ".0f"),
        "sound": (mean("sound", 100), ".0f"),
    }
    for setting in settings():
        runs = runs_of(setting)
        yield {"regime": setting} | {
            label: ends(runs, value, form) for label, (value, form) in columns.items()
        }


def drawn(folder: Path) -> None:
    """Draw choice.png: base, kept and control of each run."""
    bars: list[tuple[str, list[float]]] = []
    for setting in settings():
        for run in runs_of(setting):
            names = [ENDS[end](run) for end in ("base", "kept", "control")]
            bars.append((setting, [share("good")(run, name) if name else np.nan for name in names]))
    draw(folder, bars)
