"""What is left of a gain where a system writes as many words as base: plan length.yaml."""

from collections.abc import Iterator, Sequence

import numpy as np

from experiments.numbers import Values, clear, gaps, pairs, points
from experiments.orders import ORDERS
from experiments.replay import Options, Rule, always, chosen_by, gains, kept_by, options
from experiments.rows import EVIDENCE, read_rows
from experiments.tables import Record

# Earlier runs trained one system at a time, and have no rows of it at its own length.
EARLIER = EVIDENCE / "equal_length.csv"


def equal() -> Iterator[Record]:
    """For each base, good summaries minus base's: at a system's own length, then at base's."""
    rows = read_rows(EVIDENCE / "length.csv")
    rules = {"kept": kept_by(among=ORDERS)} | {name: always(name) for name in ORDERS}
    for setting in rows.sort_values("seed", kind="stable").setting.unique():
        runs = options(rows[rows.setting == setting])
        record = {"base": setting.removeprefix("lengths, "), "runs": f"{len(runs)}"}
        record |= {name: _both(runs, rule) for name, rule in rules.items()}
        record["kept - control at base's length"] = clear(_minus_control(runs, rules["kept"]))
        yield record


def equal_earlier() -> Iterator[Record]:
    """The same of earlier runs, at base's length alone."""
    earlier = read_rows(EARLIER)
    for setting in earlier.setting.unique():
        own = earlier[earlier.setting == setting]
        record = {"base": f"{setting}, earlier seeds", "runs": f"{own.seed.nunique()}"}
        for name in ORDERS:
            record[name] = points(gaps(pairs(own, f"{name} at base's length", "base")))
        yield record


def as_long_as_base(run: Options, name: str) -> str:
    """Of a system and its variants, the one with the number of words nearest to base's."""
    words = run.validation["base"].words
    own = [other for other in run.validation if other == name or other.startswith(f"{name}_")]
    return min(own, key=lambda other: abs(run.validation[other].words - words))


def _minus_control(runs: Sequence[Options], rule: Rule) -> Values:
    """What a rule keeps minus the control, good summaries of a document, both at base's length."""
    return gaps(
        [
            (run.test[as_long_as_base(run, name)], run.test[as_long_as_base(run, "control")])
            for run, name in chosen_by(rule, runs)
        ]
    )


def _both(runs: Sequence[Options], rule: Rule) -> str:
    """The mean gain of what a rule keeps, then that at base's length and how many words it has."""
    same = [
        (run.test["base"], run.test[as_long_as_base(run, n)]) for run, n in chosen_by(rule, runs)
    ]
    mean = 100 * np.mean([values.mean() for values in gains(runs, rule)])
    words = 100 * np.mean([own.words / base.words - 1 for base, own in same])
    left = points(gaps([(own, base) for base, own in same]))
    return f"{mean:+.1f} → {left}, {words:+.1f} % words"
