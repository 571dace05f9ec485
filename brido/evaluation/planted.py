"""A metric as a check, for `brido.checkers.sensitivity`: what it says of references with errors."""

from collections.abc import Sequence
from typing import Any

from brido.checkers.seeing import Finding, Judge
from brido.evaluation import Inputs, Metric
from brido.evaluation.metric import Support
from brido.evaluation.registry import all_metrics, find_metric
from brido.utils.errors import BridoError
from brido.utils.progress import quiet
from brido.utils.sections import Section
from brido.work.settings import RuntimeSettings


def judge_of(
    name: str,
    documents: Sequence[str],
    references: Sequence[str],
    facts: Sequence[Sequence[dict[str, Any]]] | None = None,
    settings: Section | None = None,
    runtime: RuntimeSettings | None = None,
) -> tuple[Judge, float]:
    """The metric of that name as a check of these documents, and by how much its mark must fall.

    facts: of the embedded world. settings: the metric's own section, the defaults unless given.

    Raises:
        BridoError: there is no such metric, or it says nothing about support.
    """
    metric = find_metric(name)
    support = metric.support
    if support is None:
        known = ", ".join(one.name for one in all_metrics() if one.support)
        raise BridoError(f"{name} does not say what a document supports; these do: {known}")

    def judge(numbers: Sequence[int], texts: Sequence[str]) -> list[Finding | None]:
        if not texts:
            return []
        inputs = Inputs(
            [str(place) for place in range(len(texts))],
            [documents[number] for number in numbers],
            texts,
            [[references[number]] for number in numbers],
            facts and [facts[number] for number in numbers],
        )
        found = metric.measure(inputs, settings, quiet, runtime or RuntimeSettings())
        return [finding(metric, support, row) for row in found.rows]

    return judge, support.step


def finding(metric: Metric, support: Support, row: dict[str, float | None]) -> Finding | None:
    """What a metric's row says, None where it was not measured."""
    value = row[support.column]
    if value is None:
        return None
    lower = next(one.better for one in metric.columns if one.name == support.column) == "lower"
    sign = -1 if lower else 1
    passes = None if support.threshold is None else sign * value >= sign * support.threshold
    whole = row[support.whole] if support.whole else None
    return Finding(sign * value, passes, None if whole is None else bool(whole))
