"""What a metric of summaries is (`metric`), the metrics, and the registry that finds them."""

from brido.utils.lazy import lazy

# Loaded when asked for: a judge or a QAFactEval alone does not bring what the others need.
_NAMES = ("Column", "Evaluation", "Inputs", "Metric", "by_document", "points", "share")
_PUBLIC = dict.fromkeys(_NAMES, "metric")
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC, "pipeline")
