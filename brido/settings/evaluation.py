"""Sections evaluation and report: what is measured and shown."""

from typing import Annotated

from pydantic import Field, create_model, model_validator

from brido.evaluation.registry import all_metrics
from brido.section import Count, Positive, Section, Share


class _Metrics(Section):
    metrics: list[str] = ["rouge", "mentions", "extractiveness", "world_qa", "world_judge"]

    @model_validator(mode="after")
    def _known_metrics(self) -> "_Metrics":
        known = [name for name in type(self).model_fields if name != "metrics"]
        unknown = [name for name in self.metrics if name not in known]
        if unknown:
            raise ValueError(f"metrics: unknown {unknown}; known are {known}")
        if not self.metrics:
            raise ValueError(f"metrics: nothing would be measured; known are {known}")
        if len(set(self.metrics)) < len(self.metrics):
            raise ValueError(f"metrics: a name stands twice in {self.metrics}")
        return self


# Each metric declares its own section, in its own module.
EvaluationSettings = create_model(
    "EvaluationSettings",
    __base__=_Metrics,
    __doc__="`evaluation`: the metrics that are measured and the settings of each.",
    **{metric.name: (metric.settings, metric.settings()) for metric in all_metrics()},
)


class ReportSettings(Section):
    """`report`: intervals, figures and the page."""

    # Fewer have no tails that an interval could end in.
    bootstrap_samples: Annotated[int, Field(ge=20, le=1_000_000)] = 1000
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: Count = 0
    length_warning: Share = 0.03
    page_documents: Positive = 60
