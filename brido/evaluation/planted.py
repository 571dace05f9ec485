"""What a metric sees of errors that are planted in references (`brido.checkers.sensitivity`)."""

from collections.abc import Sequence
from typing import Any

from brido.checkers.seeing import Finding, Sensitivity, measured
from brido.evaluation import Inputs, Metric
from brido.evaluation.registry import all_metrics
from brido.utils.errors import BridoError
from brido.utils.progress import quiet
from brido.utils.sections import Section
from brido.work.settings import RuntimeSettings


def metric_sensitivity(
    metric: Metric,
    documents: Sequence[str],
    references: Sequence[str],
    seed: int = 0,
    facts: Sequence[Sequence[dict[str, Any]]] | None = None,
    settings: Section | None = None,
    runtime: RuntimeSettings | None = None,
) -> Sensitivity:
    """`brido.checkers.sensitivity` of a metric that declares what supported means.

    facts: of the embedded world. settings: the metric's own section, the defaults unless given.

    Raises:
        ArgumentError: there are fewer than two documents, or not as many references.
        BridoError: the metric says nothing about support.

    Example:
        >>> from brido.evaluation.mentions import METRIC
        >>> texts = ["In town Ann met Bo on May 5.", "In town Cy paid Di 30 euros."]
        >>> found = metric_sensitivity(METRIC, texts, texts)
        >>> str(found.noticed["changed number"]), str(found.noticed["swapped names"])
        ('100 %', '0 %')
    """
    if metric.support is None:
        known = ", ".join(one.name for one in all_metrics() if one.support)
        raise BridoError(f"{metric.name} does not say what a document supports; these do: {known}")

    def judge(numbers: Sequence[int], texts: Sequence[str]) -> list[Finding | None]:
        inputs = Inputs(
            [str(place) for place in range(len(texts))],
            [documents[number] for number in numbers],
            texts,
            [[references[number]] for number in numbers],
            facts and [facts[number] for number in numbers],
        )
        found = metric.measure(inputs, settings, quiet, runtime or RuntimeSettings())
        return [finding(metric, row) for row in found.rows]

    return measured(judge, metric.support.step, documents, references, seed)


def finding(metric: Metric, row: dict[str, float | None]) -> Finding | None:
    """What a metric's row says, None where it was not measured."""
    support = metric.support
    if support is None or (value := row[support.column]) is None:
        return None
    column = next(one for one in metric.columns if one.name == support.column)
    sign = -1 if column.better == "lower" else 1
    passes = None if support.threshold is None else sign * value >= sign * support.threshold
    whole = row[support.whole] if support.whole else None
    return Finding(sign * value, passes, None if whole is None else bool(whole))
