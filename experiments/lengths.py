"""Equal lengths: a summary that says less says less that is wrong."""

from collections.abc import Callable, Mapping
from itertools import pairwise

# Tried in this order outwards from the usual one; a higher penalty makes longer summaries.
PENALTIES = (-5.0, -3.0, -2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)


def penalty_for(
    target: float, usual: float, words: float, tried: Callable[[float], float]
) -> float | None:
    """The length penalty at which a system writes `target` words; None where none gets that far.

    words: mean words at the `usual` penalty; tried(penalty): those at another one.
    """
    lengths = {usual: words}
    higher = [penalty for penalty in PENALTIES if penalty > usual]
    lower = [penalty for penalty in reversed(PENALTIES) if penalty < usual]
    found = matched_penalty(lengths, target)
    for penalty in higher if words < target else lower:
        if found is not None:
            break
        lengths[penalty] = tried(penalty)
        found = matched_penalty(lengths, target)
    return found


def matched_penalty(lengths: Mapping[float, float], target: float) -> float | None:
    """The length penalty at which a system would write `target` words, by interpolation.

    lengths: mean words at each penalty that was tried. None where they do not enclose it.
    """
    for penalty, words in lengths.items():
        if words == target:
            return penalty
    for low, high in pairwise(sorted(lengths)):
        first, second = lengths[low], lengths[high]
        if first < target < second:
            return round(low + (high - low) * (target - first) / (second - first), 3)
    return None
