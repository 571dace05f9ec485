"""Sections evaluation and report: what is measured and shown."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from brido.section import Count, Positive, Section, Share


class RougeMetricSettings(Section):
    """`evaluation.rouge`."""

    use_stemmer: bool = True


class MentionsSettings(Section):
    """`evaluation.mentions`."""

    case_sensitive: bool = True


class ExtractivenessSettings(Section):
    """`evaluation.extractiveness`."""

    novel_ngrams: Positive = 2


class WorldQASettings(Section):
    """`evaluation.world_qa`: nothing to set."""


class WorldJudgeSettings(Section):
    """`evaluation.world_judge`: nothing to set."""


class QAFactEvalSettings(Section):
    """`evaluation.qafacteval`: the neural QAFactEval, everything that can change a number."""

    models: str = "hub"
    spacy_model: str = "en_core_web_sm"
    answers: Literal["noun_chunks", "ner", "max_np", "all"] = "noun_chunks"
    scorer: Literal["lerc_quip", "lerc"] = "lerc_quip"
    faithful: bool = True


class GEvalSettings(Section):
    """`evaluation.geval`: the LLM judge, everything that can change a mark."""

    backend: str = "openai"
    model: str | None = None
    revision: str | None = None
    prompt: str = "merged"
    score_mode: Literal["mean", "probability", "greedy"] = "mean"
    samples: Annotated[int, Field(ge=1, le=1000)] = 20
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = 1.0
    max_answer_tokens: Positive | None = 256
    structured_output: Literal["auto", "always", "never"] = "auto"
    top_logprobs: Annotated[int, Field(ge=2, le=20)] = 20
    seed: int | None = None
    extra_parameters: dict[str, Any] = {}
    max_invalid_fraction: Share = 0.05


class EvaluationSettings(Section):
    """`evaluation`: the metrics that are measured and the settings of each."""

    metrics: list[str] = ["rouge", "mentions", "extractiveness", "world_qa", "world_judge"]
    rouge: RougeMetricSettings = RougeMetricSettings()
    mentions: MentionsSettings = MentionsSettings()
    extractiveness: ExtractivenessSettings = ExtractivenessSettings()
    world_qa: WorldQASettings = WorldQASettings()
    world_judge: WorldJudgeSettings = WorldJudgeSettings()
    qafacteval: QAFactEvalSettings = QAFactEvalSettings()
    geval: GEvalSettings = GEvalSettings()

    @model_validator(mode="after")
    def _known_metrics(self) -> "EvaluationSettings":
        known = [name for name in type(self).model_fields if name != "metrics"]
        unknown = [name for name in self.metrics if name not in known]
        if unknown:
            raise ValueError(f"metrics: unknown {unknown}; known are {known}")
        if len(set(self.metrics)) < len(self.metrics):
            raise ValueError(f"metrics: a name stands twice in {self.metrics}")
        return self


class ReportSettings(Section):
    """`report`: intervals, figures and the page."""

    bootstrap_samples: Positive = 1000
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: Count = 0
    length_warning: Share = 0.03
    page_documents: Positive = 60
