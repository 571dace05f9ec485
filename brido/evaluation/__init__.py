"""What a metric of summaries is (`metric`), the metrics, and the registry that finds them."""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

if TYPE_CHECKING:
    from brido.evaluation.metric import (
        Column,
        Evaluation,
        Inputs,
        Metric,
        Support,
        by_document,
        points,
        share,
    )

# Loaded when asked for: a judge or a QAFactEval alone does not bring what the others need.
__all__ = ["Column", "Evaluation", "Inputs", "Metric", "Support", "by_document", "points", "share"]
_PUBLIC = dict.fromkeys(__all__, "metric")
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
