"""`generation`: the sources of candidates, one form for each method."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from brido.endpoint.settings import ExtraParameters, reserved_problems
from brido.search.settings import (
    BeamSettings,
    GuidanceSettings,
    SamplingSettings,
    SearchSettings,
    TruncationSettings,
)
from brido.settings.base import (
    Count,
    Name,
    NonNegative,
    Positive,
    Section,
    Share,
    Size,
    Variant,
    choose_by_default,
)

# What a source that asks no checkpoint writes for it: DVC reads the key of every source.
NO_CHECKPOINT = "none"


class _Source(Variant):
    """`generation.SOURCE`, whatever its method: how many candidates of each document."""

    chooser = "method"

    num_candidates: Positive = 16
    checkpoint: str

    @classmethod
    def asks_none(cls) -> bool:
        """Whether this kind of source asks no checkpoint."""
        return get_args(cls.model_fields["checkpoint"].annotation) == (NO_CHECKPOINT,)


class DiverseBeamGeneration(_Source, BeamSettings):
    """`generation.SOURCE` by diverse beam search; every keep_every-th result is a candidate."""

    method: Literal["diverse_beam"] = "diverse_beam"
    keep_every: Positive = 1
    # Where params.yaml leaves these out, they are not the engine's defaults.
    num_beams: Size = 16
    num_beam_groups: Size = 16
    diversity_penalty: NonNegative = 1.0
    max_length: Size = 64
    early_stopping: Literal[True, False, "never"] = True
    guidance: GuidanceSettings | None = None

    def problems(self) -> Iterator[str]:
        """As many beams as results are needed."""
        yield from super().problems()
        if self.num_candidates * self.keep_every > self.num_beams:
            yield (
                f"num_candidates x keep_every ({self.num_candidates} x {self.keep_every}) is "
                f"more than num_beams ({self.num_beams}): raise num_beams or keep fewer"
            )

    def search(self) -> SearchSettings:
        """What the engine is asked for: keep_every times as many results as candidates."""
        wanted = self.num_candidates * self.keep_every
        return SearchSettings(
            **_shared(self, BeamSettings), num_return_sequences=wanted, count_prompt=False
        )


class SamplingGeneration(_Source, TruncationSettings):
    """`generation.SOURCE` by sampling; the seed and a document's id decide what is drawn for it."""

    method: Literal["sampling"]
    seed: Count = 0
    # As above.
    top_p: float = 0.95
    max_length: Size = 64
    guidance: GuidanceSettings | None = None

    def search(self) -> SamplingSettings:
        """What the engine is asked for: a sample a candidate."""
        wanted = self.num_candidates
        return SamplingSettings(
            **_shared(self, TruncationSettings), num_return_sequences=wanted, count_prompt=False
        )


class CandidateFiles(Section):
    """`generation.SOURCE.files`: the user's own candidates (id, candidates), a file a split."""

    train: Name
    validation: Name
    test: Name | None = None


class FilesGeneration(_Source):
    """`generation.SOURCE` from the user's own files."""

    method: Literal["files"]
    checkpoint: Literal["none"]
    files: CandidateFiles


class EndpointGeneration(_Source):
    """`generation.SOURCE` from an OpenAI-compatible server, a sample a candidate."""

    method: Literal["endpoint"]
    checkpoint: Literal["none"]
    endpoint: str = "default"
    model: Name
    revision: Name | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = 1.0
    max_answer_tokens: Positive | None = 256
    seed: Count | None = 0
    extra_parameters: ExtraParameters = Field(default_factory=dict)
    max_missing_fraction: Share = 0.0

    def problems(self) -> Iterator[str]:
        """What contradicts itself."""
        yield from super().problems()
        if self.temperature == 0 and self.num_candidates > 1:
            yield (
                "temperature: at 0 every sample is the same answer, paid for "
                f"{self.num_candidates} times: raise it, or set num_candidates to 1"
            )
        yield from reserved_problems("", self.extra_parameters)


# `generation.SOURCE`: one of the sources of candidates.
SourceSettings = Annotated[
    DiverseBeamGeneration | SamplingGeneration | EndpointGeneration | FilesGeneration,
    Field(discriminator="method"),
    choose_by_default("method", "diverse_beam"),
]


def _shared(settings: Section, section: type[Section]) -> dict[str, Any]:
    """The values of the keys that `section` declares."""
    return {name: getattr(settings, name) for name in section.model_fields}


class DocumentsSettings(Section):
    """`documents`: which documents get candidates, the first of each split, from every source."""

    train: Positive | None = 200
    validation: Positive | None = 300
    test: Literal[0] | None = None
    empty: Literal["refuse", "leave_out"] = "refuse"

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have candidates."""
        return ("train", "validation") + (("test",) if self.test is None else ())


# What `brido.candidates.cleaning` takes off a candidate.
CleaningRule = Literal["think", "refusal", "markdown", "preamble", "label", "quotes"]
CLEANING_RULES: tuple[CleaningRule, ...] = get_args(CleaningRule)


class PoolSettings(Section):
    """`pool`: how candidates are cleaned, who may be elected, and what becomes of documents where
    too few may."""

    clean: list[CleaningRule] = list(CLEANING_RULES)

    eligible: list[str] | None = None
    minimum: Annotated[int, Field(ge=2)] = 2
    too_few: Literal["refuse", "leave_out"] = "refuse"
