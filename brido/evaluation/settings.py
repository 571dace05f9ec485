"""Section evaluation: what is measured, and how."""

from typing import TYPE_CHECKING, Any

from pydantic import create_model, model_validator

from brido.evaluation.registry import all_metrics
from brido.settings.base import Section


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
_SECTIONS: dict[str, Any] = {
    metric.name: (metric.settings, metric.settings()) for metric in all_metrics()
}
if TYPE_CHECKING:

    class EvaluationSettings(_Metrics):
        """A section for each metric, which only the registry knows."""

        def __getattr__(self, name: str) -> Any: ...
else:
    EvaluationSettings = create_model(
        "EvaluationSettings",
        __base__=_Metrics,
        __doc__="`evaluation`: the metrics that are measured and the settings of each.",
        **_SECTIONS,
    )
