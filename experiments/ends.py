"""How runs end: base, the kept system, the control, and the best in hindsight."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.numbers import clear, points
from experiments.picture import draw
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
    runs_of,
)
from experiments.rows import marked, planned_settings, read_seconds
from experiments.tables import Record

# Ten points more good summaries is what the claim promises.
PROMISED = 0.1

# The four ends of a run: base, and what is kept, the control, and the best in hindsight.
ENDS: dict[str, Callable[[Options], str | None]] = {
    "base": always("base"),
    "kept": by_default,
    "control": always("control"),
    "best": lambda run: run.best,
}
Value = Callable[[Options, str], float]


def ends(runs: Sequence[Options], value: Value, form: str, count: int = len(ENDS)) -> str:
    """The means of a value for the first so many ends: `base → kept / control / best`."""
    means = []
    for rule in list(ENDS.values())[:count]:
        values = [value(run, name) for run, name in chosen_by(rule, runs)]
        known = [one for one in values if not np.isnan(one)]
        means.append(format(np.mean(known), form) if known else "-")
    return "" if set(means) == {"-"} else means[0] + " → " + " / ".join(means[1:])


def share(mark: str) -> Value:
    """The share of a system's test documents with a mark, in per cent."""
    return lambda run, name: 100 * float(marked(run.test[name], mark).mean())


def _mean(column: str, factor: float = 1.0) -> Value:
    return lambda run, name: factor * getattr(run.test[name], column)


# What is measured of the ends, and how it is written.
MEASURES: dict[str, tuple[Value, str]] = {
    "good": (share("good"), ".1f"),
    "unsupported": (share("unsupported"), ".1f"),
    "sound": (_mean("sound", 100), ".0f"),
    "ROUGE-1": (_mean("r1"), ".1f"),
    "words": (_mean("words"), ".1f"),
    "details": (_mean("details"), ".2f"),
    "of them supported": (_mean("supported", 100), ".0f"),
    "whole": (share("whole"), ".1f"),
    "ROUGE-2": (_mean("r2"), ".1f"),
}


def regimes() -> Iterator[Record]:
    """What a run ends with, in good summaries."""
    for setting in planned_settings():
        runs = runs_of(setting)
        won = gains(runs, by_default)
        kept = counts(runs, by_default)
        yield {
            "regime": setting,
            "runs": f"{len(runs)}",
            "good: base → kept / control": ends(runs, *MEASURES["good"], 3),
            "kept - base": points(won),
            "worst run": f"{100 * min(one.mean() for one in won):+.1f}",
            "kept - control": clear(gains(runs, by_default, "control")),
            "default systems - base": points(gains(runs, by_shipped)),
            "which was kept": ", ".join(f"{name} {count}" for name, count in kept.items()),
        }


def endings() -> Iterator[Record]:
    """The other measures that matter most: base, kept and control."""
    yield from _measured("base → kept / control", list(MEASURES)[1:6], 3)


def endings_in_full() -> Iterator[Record]:
    """All measures of the four ends."""
    yield from _measured("base → kept / control / best in hindsight", list(MEASURES), len(ENDS))


def _measured(head: str, names: Sequence[str], count: int) -> Iterator[Record]:
    for setting in planned_settings():
        runs = runs_of(setting)
        yield {head: setting} | {name: ends(runs, *MEASURES[name], count) for name in names}


def claim() -> Iterator[Record]:
    """What the claim says of each regime, how far the best was, and what the runs took."""
    seconds = read_seconds()
    for setting in planned_settings():
        runs = runs_of(setting)
        minutes = seconds[seconds.setting == setting].seconds.mean() / 60
        yield {
            "regime": setting,
            "runs": f"{len(runs)}",
            "lost": f"{losses(runs, by_default)[0]}",
            "ten points better": f"{promised(gains(runs, by_default))}",
            "where some system is": f"{promised(gains(runs, ENDS['best']))}",
            "regret": f"{regret(runs, by_default):.1f}",
            "minutes": "" if np.isnan(minutes) else f"{minutes:.0f}",
        }


def promised(won: Sequence[NDArray[np.float64]]) -> int:
    """How many runs gain what the claim promises."""
    return sum(values.mean() > PROMISED - 1e-9 for values in won)


def drawn(folder: Path) -> None:
    """Draw choice.png: base, kept and control of each run."""
    bars: list[tuple[str, list[float]]] = []
    for setting in planned_settings():
        for run in runs_of(setting):
            names = [ENDS[end](run) for end in ("base", "kept", "control")]
            bars.append((setting, [share("good")(run, name) if name else np.nan for name in names]))
    draw(folder, bars)
