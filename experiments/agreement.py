"""How far blind readers agree with each other, and with the rules of metric mentions."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

# Unsupported statements of each system, [D, 1], or [D, 2]: contradicted and not mentioned.
Counts = dict[str, NDArray[np.float64]]
# Of each system, by kind: whether the rules say so of each document's summary.
Rules = Mapping[str, Mapping[str, Sequence[bool]]]


def unsupported(counts: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether anything unsupported was counted, [D]."""
    return counts.sum(1) > 0


def agreement(readers: Sequence[Sequence[Counts]]) -> list[str]:
    """How often two readers of a folder agree whether a summary says something unsupported.

    readers: the counts of each reader, folder by folder. Empty if no folder has two readers.
    """
    pairs = [
        [np.concatenate([unsupported(one[name]) for name in sorted(one)]) for one in two]
        for own in readers
        for two in combinations(own, 2)
    ]
    if not pairs:
        return []
    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return [f"two readers agree on {_agree(first, second, 'pairs of readings')}"]


def against_rules(rules: Sequence[Rules], readers: Sequence[Sequence[Counts]]) -> list[str]:
    """How often the rules and the readers say the same of a summary, a line for each kind.

    rules: folder by folder, as `readers`. Readers find a summary supported where most of them
    count no unsupported statement.
    """
    systems = sorted(readers[0][0])
    supported = np.concatenate([
        np.mean([unsupported(one[name]) for one in own], axis=0) < 0.5
        for own in readers
        for name in systems
    ])  # fmt: skip
    lines = []
    for kind in rules[0][systems[0]]:
        ruled = np.concatenate(
            [np.array(one[name][kind], bool) for one in rules for name in systems]
        )
        both, alone, readers_alone, neither = (
            f"{100 * np.mean((ruled == rule) & (supported == found)):.1f} %"
            for rule in (True, False)
            for found in (True, False)
        )
        lines.append(
            f"rules say {kind}, readers find nothing unsupported: both {both}, rules alone "
            f"{alone}, readers alone {readers_alone}, neither {neither}; they agree on "
            f"{_agree(ruled, supported, 'summaries')}"
        )
    return lines


def _agree(first: NDArray[np.bool_], second: NDArray[np.bool_], what: str) -> str:
    """The share of `what` that is equal, and Cohen's kappa: 0 at chance, 1 if they always agree."""
    same = np.mean(first == second)
    chance = first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean())
    kappa = (same - chance) / (1 - chance) if chance < 1 else 1.0
    return f"{100 * same:.1f} % of {len(first)} {what}, kappa {kappa:.2f}"
