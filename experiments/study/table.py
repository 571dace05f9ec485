"""The study's tables in Markdown: means and 95 % bootstrap intervals over seeds and documents."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.study.plan import NATIVE, Chain
from experiments.study.records import Row, find

SAMPLES = 2000
TUNED = "tuned"
# As tables name them.
LABELS = {
    "reference": "reference",
    "base": "base",
    "elected": "the candidate that the vote puts first, nothing tuned",
    "elected by the reference": "the candidate nearest to the reference",
    "tuned": "tuned on the vote (the default)",
    "brio": "tuned on the references' order (BRIO)",
    "mle": "trained on the references, no ranking (MLE)",
}


def summary_table(rows: Sequence[Row], home: Chain) -> str:
    """A row a system of the default's chains on the machine's own processor."""
    place = home.key[:2]
    own = [row for row in rows if row.place == place and row.processor == NATIVE]
    own = [row for row in own if row.split == "test"]
    base = by_seed(own, "base")
    lines = [
        f"| {len(base)} seeds x {len(base[0].flags):,} test documents | unsupported mentions "
        "| words | well-formed | and supported | ROUGE-1/2 | unsupported at base's length |",
        "|---|---|---|---|---|---|---|",
    ]
    for system, label in LABELS.items():
        found = by_seed(own, system)
        words, r1, r2 = (
            np.mean([getattr(row, key) for row in found]) for key in ("words", "r1", "r2")
        )
        rouge = "" if system == "reference" else f"{r1:.1f}/{r2:.1f}"
        matched = by_seed(own, f"{system} at base's length")
        at_length = share(matched) if len(matched) == len(found) else ""
        if 0 < len(matched) < len(found):
            at_length = f"out of reach for {len(found) - len(matched)} of {len(found)} seeds"
        formed = 100 * np.mean([row.well_formed.mean() for row in found])
        form = [f"{formed:.0f} %", share(found, "supported_sentence")]
        cells = [label, share(found), f"{words:.1f}", *form, rouge, at_length]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def among_well_formed(rows: Sequence[Row], home: Chain) -> str:
    """Tuned against base where both summaries are sentences of the world's grammar, in words."""
    own = [row for row in rows if row.place == home.key[:2] and row.processor == NATIVE]
    kept, total, differences = 0, 0, []
    for tuned, base in _pairs(own, TUNED, "base"):
        both = tuned.well_formed & base.well_formed
        kept, total = kept + int(both.sum()), total + len(both)
        differences.append(tuned.flags[both] - base.flags[both])
    return (
        f"In {kept:,} of {total:,} documents both are; there tuned - base is {points(differences)} "
        "points."
    )


def repeat_table(rows: Sequence[Row], home: Chain) -> str:
    """A row a chain of the default: every seed on every processor."""
    place = home.key[:2]
    lines = [
        "| seed | processor | base | tuned | tuned - base | words | at base's length - base |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in sorted(_tests(rows, "base"), key=lambda row: (row.seed, row.processor != NATIVE)):
        if row.place != place:
            continue
        tuned = find(rows, row.chain, TUNED)
        matched = find(rows, row.chain, f"{TUNED} at base's length")
        lines.append(
            f"| {row.seed} | {row.processor} | {_percent([row])} "
            f"| {_percent([tuned])} | {_difference([(tuned, row)])} "
            f"| {row.words:.1f} -> {tuned.words:.1f} "
            f"| {_difference([(matched, row)]) if matched else 'out of reach'} |"
        )
    return "\n".join(lines)


def plane_table(rows: Sequence[Row]) -> str:
    """A row a place of the plane, means over its seeds, per cent of unsupported summaries."""
    lines = [
        "| stock phrases | base's corpus supported | seeds | elected - base, validation "
        "| base | elected | by the reference | tuned | BRIO | MLE | words, base -> tuned "
        "| tuned - base | at base's length | against base at tuned's length |",
        "|---" * 14 + "|",
    ]
    own = [row for row in rows if row.processor == NATIVE]
    for place in sorted({row.place for row in own}):
        here = [row for row in own if row.place == place]
        base, tuned = (by_seed(_tests(here, name), name) for name in ("base", TUNED))
        cells = [
            f"{place[0]:g}",
            f"{place[1]:g}",
            f"{len(base)}",
            _paired(here, "elected", "base", "validation"),
            *(_percent(_tests(here, name)) for name in LABELS if name != "reference"),
            f"{_words(base):.1f} -> {_words(tuned):.1f}",
            _paired(here, TUNED, "base"),
            _paired(here, f"{TUNED} at base's length", "base"),
            _paired(here, TUNED, f"base at {TUNED}'s length"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def foretold(rows: Sequence[Row]) -> str:
    """How well electing, on validation documents, foretells tuning, chain by chain, in words."""
    own = [row for row in rows if row.processor == NATIVE]
    before = [
        a.flags.mean() - b.flags.mean() for a, b in _pairs(own, "elected", "base", "validation")
    ]
    after = [a.flags.mean() - b.flags.mean() for a, b in _pairs(own, TUNED, "base")]
    helped = sum(value < 0 for value in after)
    better = sum(first < 0 for first in before)
    both = sum(first < 0 and value < 0 for first, value in zip(before, after, strict=True))
    return (
        f"{len(after)} chains: tuning helped in {helped}; electing beat base in {better}, and of "
        f"these tuning helped in {both}; correlation of the two differences "
        f"{np.corrcoef(before, after)[0, 1]:.2f}"
    )


def by_seed(rows: Iterable[Row], system: str) -> list[Row]:
    """The rows of a system, seed by seed."""
    return sorted((row for row in rows if row.system == system), key=lambda row: row.seed)


def _tests(rows: Iterable[Row], system: str) -> list[Row]:
    return [row for row in rows if row.system == system and row.split == "test"]


def _pairs(
    rows: Sequence[Row], first: str, second: str, split: str = "test"
) -> list[tuple[Row, Row]]:
    """The rows of two systems, chain by chain, of the chains that have both."""
    left = [row for row in rows if row.system == first and row.split == split]
    return [(row, other) for row in left if (other := find(rows, row.chain, second, split))]


def _words(found: Sequence[Row]) -> float:
    return float(np.mean([row.words for row in found]))


def _percent(found: Sequence[Row]) -> str:
    return f"{100 * np.mean([row.flags.mean() for row in found]):.1f} %"


def share(found: Sequence[Any], mark: str = "flags") -> str:
    """Mean share of summaries with a mark of their rows, per cent: `flags` (something unsupported)
    or `supported_sentence`."""
    marks = [getattr(row, mark) for row in found]
    mean, low, high = (100 * value for value in interval(marks))
    return f"{mean:.1f} % [{low:.1f}, {high:.1f}]"


def _paired(rows: Sequence[Row], first: str, second: str, split: str = "test") -> str:
    """The difference of two systems over the chains, and how many chains lack it."""
    pairs = _pairs(rows, first, second, split)
    missing = len(_tests(rows, "base")) - len(pairs)
    told = [_difference(pairs)] if pairs else []
    return ", ".join([*told, *([f"out of reach for {missing}"] if missing else [])])


def _difference(pairs: Sequence[tuple[Row, Row]]) -> str:
    """First minus second in points, paired by document."""
    return points([first.flags - second.flags for first, second in pairs])


def points(values: Sequence[NDArray[np.float64]]) -> str:
    """Mean and interval of differences, in points; values[s] are the documents of seed s."""
    mean, low, high = (100 * value for value in interval(values))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def interval(values: Sequence[NDArray[np.float64]], seed: int = 0) -> tuple[float, float, float]:
    """Mean and 95 % bootstrap interval of the mean; values[s] are the documents of seed s.

    Seeds are drawn with replacement and then the documents of each drawn seed, so the interval
    covers another world and another training run as well.
    """
    rng = np.random.default_rng(seed)
    means = []
    for _ in range(SAMPLES):
        chosen = [values[index] for index in rng.integers(len(values), size=len(values))]
        drawn = [one[rng.integers(len(one), size=len(one))] for one in chosen]
        means.append(np.mean([sample.mean() for sample in drawn]))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(np.mean([one.mean() for one in values])), float(low), float(high)
