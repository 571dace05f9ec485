"""What a metric of summaries is (`metric`), the metrics, and the registry that finds them."""

from brido.utils.extras import extra

with extra():
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

__all__ = ["Column", "Evaluation", "Inputs", "Metric", "Support", "by_document", "points", "share"]
