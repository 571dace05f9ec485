"""Section `evaluation.geval`: the LLM judge, everything that can change a mark."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from brido.endpoint.settings import RESERVED, ExtraParameters, answer_limit, reserved_problems
from brido.utils.sections import Name, Positive, Section, Share


class GEvalSettings(Section):
    """`evaluation.geval`: the LLM judge, everything that can change a mark."""

    model: Name | None = Field(None, description="The judge's name at the server; needed.")
    revision: Name | None = Field(
        None, description="Any label: change it when a name gets a new model."
    )
    prompt: Name = Field(
        "merged", description="merged (the paper) | separate (G-Eval) | a .jinja file of yours."
    )
    samples: Annotated[int, Field(ge=1, le=1000)] = Field(
        20, description="Answers to a question, whose marks are averaged."
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        1.0, description="0 with one sample; null: not sent, some models refuse it."
    )
    top_p: Annotated[float, Field(gt=0, le=1)] | None = Field(
        1.0, description="Nucleus of the judge's tokens; null: not sent."
    )
    max_answer_tokens: Positive | None = Field(
        256, description="Longest answer in tokens; null: not sent (then see extra_parameters)."
    )
    structured_output: Literal["auto", "always", "never"] = Field(
        "auto",
        description="auto (marks by a schema, else text) | always (a schema) | never.",
    )
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = Field(
        None, description="Sent as seed + sample number; null: not sent."
    )
    extra_parameters: ExtraParameters = Field(
        default_factory=dict,
        description="Further request fields, for instance {reasoning_effort: low}.",
    )
    max_invalid_fraction: Share = Field(
        0.05,
        description="A larger share of missing marks is an error. A missing mark never counts"
        " as 0.",
    )

    def problems(self) -> Iterator[str]:
        """Yield what contradicts itself."""
        if self.samples > 1 and self.temperature == 0:
            yield (
                "temperature: at 0 every sample is the same answer, paid for "
                f"{self.samples} times: set samples to 1, or a temperature above 0"
            )
        # Without our schema a user may ask for JSON in another way.
        ours = () if self.structured_output == "never" else ("response_format",)
        yield from reserved_problems("", self.extra_parameters, (*RESERVED, *ours))

    @property
    def answer_limit(self) -> int:
        """The longest answer in tokens, for the budget."""
        return answer_limit(self.max_answer_tokens, self.extra_parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        """The fields of a request that decide an answer, without a JSON schema."""
        parameters: dict[str, Any] = dict(self.extra_parameters)
        if self.temperature is not None:
            parameters["temperature"] = float(self.temperature)
        if self.top_p is not None:
            parameters["top_p"] = float(self.top_p)
        if self.max_answer_tokens is not None:
            parameters["max_tokens"] = self.max_answer_tokens
        if self.seed is not None:
            parameters["seed"] = self.seed
        return parameters
