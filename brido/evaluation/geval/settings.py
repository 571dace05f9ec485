"""Section `evaluation.geval`: the LLM judge, everything that can change a mark."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from brido.settings.base import Name, Positive, Section, Share
from brido.utils.errors import quoted


class GEvalSettings(Section):
    """`evaluation.geval`: the LLM judge, everything that can change a mark."""

    backend: str = "openai"
    model: Name | None = None
    revision: Name | None = None
    prompt: Name = "merged"
    score_mode: Literal["mean", "probability", "greedy"] = "mean"
    samples: Annotated[int, Field(ge=1, le=1000)] = 20
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = 1.0
    max_answer_tokens: Positive | None = 256
    structured_output: Literal["auto", "always", "never"] = "auto"
    top_logprobs: Annotated[int, Field(ge=2, le=20)] = 20
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    extra_parameters: dict[str, Any] = Field(default_factory=dict)
    max_invalid_fraction: Share = 0.05

    @field_validator("backend")
    @classmethod
    def _is_known(cls, name: str) -> str:
        from brido.evaluation.geval.backends import BACKENDS

        if name not in BACKENDS:
            raise ValueError(f"must be one of {', '.join(BACKENDS)}, not {quoted(name)}")
        return name
