"""The four criteria of G-Eval, their scales, and what is computed from their marks."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

# Coherence, consistency and relevance run from 1 to 5, fluency from 1 to 3, so that the raw mean
# of the four is at most 4.5. 0 is on no scale: it is what a judge leaves in a form it did not fill.
SCALES: dict[str, tuple[int, int]] = {
    "coherence": (1, 5),
    "consistency": (1, 5),
    "fluency": (1, 3),
    "relevance": (1, 5),
}
CRITERIA: tuple[str, ...] = tuple(SCALES)


def average(marks: Mapping[str, float | None]) -> float | None:
    """The raw mean of the four marks (1 to 4.5), the paper's "ave."; None if one is missing."""
    values = [mark for criterion in CRITERIA if (mark := marks[criterion]) is not None]
    return fmean(values) if len(values) == len(CRITERIA) else None


def average_normalised(marks: Mapping[str, float | None]) -> float | None:
    """The mean of the four marks, each scale mapped to 0-1 first; None if one is missing."""
    values = [
        (mark - lowest) / (highest - lowest)
        for criterion, (lowest, highest) in SCALES.items()
        if (mark := marks[criterion]) is not None
    ]
    return fmean(values) if len(values) == len(SCALES) else None


def answer_schema(criteria: Sequence[str]) -> dict[str, Any]:
    """The `response_format` that makes a server answer with whole marks on their scales."""
    properties = {}
    for criterion in criteria:
        lowest, highest = SCALES[criterion]
        properties[criterion] = {"type": "integer", "enum": list(range(lowest, highest + 1))}
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(criteria),
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "marks", "strict": True, "schema": schema},
    }
