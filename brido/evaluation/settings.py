"""Section evaluation: what is measured, and how."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import Field, create_model

from brido.evaluation.registry import all_metrics
from brido.utils.sections import Section


class _Metrics(Section):
    metrics: list[str] = Field(
        ["rouge", "mentions", "extractiveness", "world_qa", "world_judge"],
        description="What is measured; docs/metrics.md. Each needs its section, {} if need be.",
    )

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the names of metrics."""
        known = [name for name in type(self).model_fields if name != "metrics"]
        unknown = [name for name in self.metrics if name not in known]
        if unknown or not self.metrics or len(set(self.metrics)) < len(self.metrics):
            yield f"metrics: {self.metrics} must name some of {known}, each once"
        if "metrics" in self.model_fields_set:
            for name in self.metrics:
                if name in known and name not in self.model_fields_set:
                    yield (
                        f"{name}: this section is missing, but metrics names {name}: add "
                        f"`{name}: {{}}` to `evaluation`, or `-S '+evaluation.{name}.KEY=VALUE'` "
                        f"(python -m brido options evaluation.{name} lists its keys)"
                    )


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
