"""Section `evaluation.geval`: the LLM judge, everything that can change a mark."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from brido.endpoint.settings import RESERVED, ExtraParameters, reserved_problems
from brido.settings.base import Name, Positive, Section, Share

# Only for the budget, where no limit of the answer's length is sent.
_UNLIMITED_ANSWER = 4096


class GEvalSettings(Section):
    """`evaluation.geval`: the LLM judge, everything that can change a mark."""

    model: Name | None = None
    revision: Name | None = None
    prompt: Name = "merged"
    score_mode: Literal["mean", "greedy"] = "mean"
    samples: Annotated[int, Field(ge=1, le=1000)] = 20
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = 1.0
    max_answer_tokens: Positive | None = 256
    structured_output: Literal["auto", "always", "never"] = "auto"
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    extra_parameters: ExtraParameters = Field(default_factory=dict)
    max_invalid_fraction: Share = 0.05

    def problems(self) -> Iterator[str]:
        """Yield what contradicts itself."""
        if self.score_mode == "mean" and self.samples > 1 and self.temperature == 0:
            yield (
                "temperature: at 0 every sample is the same answer, paid for "
                f"{self.samples} times: use score_mode greedy, or a temperature above 0"
            )
        yield from reserved_problems("", self.extra_parameters, (*RESERVED, "response_format"))

    @property
    def answers(self) -> int:
        """How many answers a question gets."""
        return self.samples if self.score_mode == "mean" else 1

    @property
    def answer_limit(self) -> int:
        """The longest answer in tokens, for the budget."""
        limit = self.max_answer_tokens or self.extra_parameters.get("max_completion_tokens")
        return limit if isinstance(limit, int) else _UNLIMITED_ANSWER

    @property
    def parameters(self) -> dict[str, Any]:
        """The fields of a request that decide an answer, without a JSON schema."""
        mean = self.score_mode == "mean"
        parameters: dict[str, Any] = dict(self.extra_parameters)
        if self.temperature is not None:
            parameters["temperature"] = float(self.temperature) if mean else 0.0
        if mean and self.top_p is not None:
            parameters["top_p"] = float(self.top_p)
        if self.max_answer_tokens is not None:
            parameters["max_tokens"] = self.max_answer_tokens
        if self.seed is not None:
            parameters["seed"] = self.seed
        return parameters
