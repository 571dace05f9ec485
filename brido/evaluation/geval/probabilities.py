"""Probability-weighted marks: the mean of a mark under the judge's own next-token probabilities.

G-Eval's score is sum over marks s of p(s) * s. p is read where the answer holds the mark's digit:
the alternatives of that token which are marks on the scale, renormalised to sum 1, because the
rest of the probability is on no mark. In a prompt for four criteria each later mark is conditioned
on the earlier ones that the judge wrote.
"""

import math
from collections.abc import Sequence

from brido.endpoint import Token
from brido.evaluation.geval.criteria import SCALES
from brido.evaluation.geval.parsing import (
    Mark,
    Missing,
    bare_pattern,
    checked_mark,
    mark_pattern,
)

# What may stand around a digit inside its token: ` 4`, `"4`, `4,`.
_AROUND = " \t\n\"'“”‘’:,}*_`▁Ġ"


def may_be_a_mark(token: str) -> bool:
    """Whether a token holds a digit: only then are its alternatives kept."""
    return any(character.isdigit() for character in token)


def weighted_marks(tokens: Sequence[Token], criteria: Sequence[str]) -> dict[str, Mark]:
    """The probability-weighted mark of each of `criteria`, or `Missing` with the reason."""
    text = "".join(token for token, _ in tokens)
    return {
        criterion: _weighted(tokens, text, criterion, len(criteria) == 1) for criterion in criteria
    }


def _weighted(tokens: Sequence[Token], text: str, criterion: str, alone: bool) -> Mark:
    matches = list(mark_pattern(criterion).finditer(text))
    if not matches and alone:
        matches = [match for match in [bare_pattern().match(text)] if match]
    if not matches:
        return Missing("missing")
    written = checked_mark(matches[-1], criterion)
    if isinstance(written, Missing):
        return written
    alternatives = _alternatives_at(tokens, matches[-1].start("number"))
    weights: dict[int, float] = {}
    lowest, highest = SCALES[criterion]
    for token, log_probability in alternatives:
        digits = token.strip(_AROUND)
        if digits.isascii() and digits.isdigit() and lowest <= int(digits) <= highest:
            weights[int(digits)] = weights.get(int(digits), 0.0) + math.exp(log_probability)
    total = math.fsum(weights.values())
    if not total > 0.0:
        return Missing("off_scale")
    return math.fsum(mark * weight for mark, weight in weights.items()) / total


def _alternatives_at(tokens: Sequence[Token], position: int) -> Sequence[tuple[str, float]]:
    end = 0
    for token, alternatives in tokens:
        end += len(token)
        if end > position:
            return alternatives or ()
    return ()
