"""Section `evaluation.geval`: the LLM judge, everything that can change a mark."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from brido.endpoint.settings import RequestSettings
from brido.utils.sections import Count, Name, Share, inherited


class GEvalSettings(RequestSettings):
    """`evaluation.geval`: the LLM judge, everything that can change a mark."""

    # structured_output decides how JSON is asked for.
    reserved: ClassVar[frozenset[str]] = RequestSettings.reserved | {"response_format"}

    prompt: Name = Field(
        "merged", description="merged (the paper) | separate (G-Eval) | a .jinja file of yours."
    )
    samples: Annotated[int, Field(ge=1, le=1000)] = Field(
        20, description="Answers to a question, whose marks are averaged."
    )
    seed: Count | None = inherited(RequestSettings, "seed", None)
    structured_output: Literal["auto", "always", "json_object", "never"] = Field(
        "auto",
        description="auto (a schema, else any JSON, else text) | always | json_object | never.",
    )
    max_invalid_fraction: Share = Field(
        0.05,
        description="A larger share of missing marks is an error. A missing mark never counts"
        " as 0.",
    )

    def problems(self) -> Iterator[str]:
        """Yield what contradicts itself."""
        yield from super().problems()
        yield from self.same_answers(self.samples, "samples")
