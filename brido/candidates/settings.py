"""`generation`: the sources of candidates, one form for each method."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from brido.endpoint.settings import RequestSettings
from brido.search.settings import (
    Beams,
    BeamSettings,
    GuidanceSettings,
    Length,
    Nucleus,
    SamplingSettings,
    SearchSettings,
    Stopping,
    TruncationSettings,
)
from brido.utils.arguments import CLEANING_RULES, CleaningRule
from brido.utils.sections import (
    Count,
    Name,
    NonNegative,
    Positive,
    Section,
    Share,
    Variant,
    choose_by_default,
    inherited,
)

# What a source without a checkpoint writes for it: DVC reads the key of every source.
NO_CHECKPOINT = "none"


class _CandidateSource(Variant):
    """`generation.SOURCE` with any method: how many candidates of each document."""

    chooser = "method"

    method: str = Field(description="diverse_beam | sampling | endpoint | files.")
    num_candidates: Positive = Field(16, description="[N] candidates of a document.")
    checkpoint: str = Field(description="A key of checkpoints, whose model writes the candidates.")


class DiverseBeamGeneration(BeamSettings, _CandidateSource):
    """`generation.SOURCE` by diverse beam search; every keep_every-th result is a candidate."""

    method: Literal["diverse_beam"] = inherited(_CandidateSource, "method", "diverse_beam")
    keep_every: Positive = Field(1, description="Keep every k-th of the search's results.")
    # Where params.yaml leaves these out, they are not the engine's defaults.
    num_beams: Beams = inherited(BeamSettings, "num_beams", 16)
    num_beam_groups: Beams = inherited(BeamSettings, "num_beam_groups", 16)
    diversity_penalty: NonNegative = inherited(BeamSettings, "diversity_penalty", 1.0)
    max_length: Length = inherited(BeamSettings, "max_length", 64)
    early_stopping: Stopping = inherited(BeamSettings, "early_stopping", True)
    guidance: GuidanceSettings | None = Field(
        None, description="null | {weight, floor, others, seed}, as under `variants`."
    )

    def problems(self) -> Iterator[str]:
        """As many beams as results are needed."""
        yield from super().problems()
        if self.num_candidates * self.keep_every > self.num_beams:
            yield (
                f"num_candidates x keep_every ({self.num_candidates} x {self.keep_every}) is "
                f"more than num_beams ({self.num_beams}): raise num_beams or keep fewer"
            )

    def with_candidates(self, count: int) -> "DiverseBeamGeneration":
        """The same with so many candidates; where that changes their number, by a beam each."""
        if count == self.num_candidates:
            return self
        size = dict.fromkeys(("num_candidates", "num_beams", "num_beam_groups"), count)
        return self.model_copy(update={**size, "keep_every": 1})

    def search(self) -> SearchSettings:
        """What the engine is asked for: keep_every times as many results as candidates."""
        wanted = self.num_candidates * self.keep_every
        return SearchSettings(
            **_shared(self, BeamSettings), num_return_sequences=wanted, count_prompt=False
        )


class SamplingGeneration(TruncationSettings, _CandidateSource):
    """`generation.SOURCE` by sampling; the seed and a document's id decide what is drawn for it."""

    method: Literal["sampling"] = inherited(_CandidateSource, "method")
    seed: Count = Field(
        0, description="Decides, with a document's id, what is drawn; each source needs its own."
    )
    # As above.
    top_p: Nucleus = inherited(TruncationSettings, "top_p", 0.95)
    max_length: Length = inherited(TruncationSettings, "max_length", 64)
    guidance: GuidanceSettings | None = inherited(DiverseBeamGeneration, "guidance", None)

    def with_candidates(self, count: int) -> "SamplingGeneration":
        """The same with so many candidates."""
        return self.model_copy(update={"num_candidates": count})

    def search(self) -> SamplingSettings:
        """What the engine is asked for: a sample a candidate."""
        wanted = self.num_candidates
        return SamplingSettings(
            **_shared(self, TruncationSettings), num_return_sequences=wanted, count_prompt=False
        )


class CandidateFiles(Section):
    """`generation.SOURCE.files`: the user's own candidates (id, candidates), a file a split."""

    train: Name = Field(description="JSON lines or Parquet with the columns id and candidates.")
    validation: Name = Field(description="The same for the validation documents.")
    test: Name | None = Field(
        None, description="The same for the test documents; needed unless documents.test is 0."
    )


class FilesGeneration(_CandidateSource):
    """`generation.SOURCE` from the user's own files."""

    method: Literal["files"] = inherited(_CandidateSource, "method")
    checkpoint: Literal["none"] = inherited(_CandidateSource, "checkpoint")
    files: CandidateFiles = Field(description="Candidates of your own, made elsewhere.")


class AskedSettings(RequestSettings):
    """What an OpenAI-compatible server is asked for, beside the documents."""

    endpoint: str = Field(
        "default", description="A key of runtime.endpoints; default: runtime.endpoint."
    )
    model: Name = inherited(RequestSettings, "model")
    max_missing_fraction: Share = Field(
        0.0, description="A larger share of candidates without an answer is an error."
    )


class EndpointGeneration(AskedSettings, _CandidateSource):
    """`generation.SOURCE` from an OpenAI-compatible server, a sample a candidate."""

    method: Literal["endpoint"] = inherited(_CandidateSource, "method")
    checkpoint: Literal["none"] = inherited(_CandidateSource, "checkpoint")

    def problems(self) -> Iterator[str]:
        """What contradicts itself."""
        yield from super().problems()
        yield from self.same_answers(self.num_candidates, "num_candidates")


# `generation.SOURCE`: one of the sources of candidates.
SourceSettings = Annotated[
    DiverseBeamGeneration | SamplingGeneration | EndpointGeneration | FilesGeneration,
    Field(discriminator="method"),
    choose_by_default("method", "diverse_beam"),
]


# A source whose candidates a checkpoint writes.
LocalSource = Annotated[
    DiverseBeamGeneration | SamplingGeneration,
    Field(discriminator="method"),
    choose_by_default("method", "diverse_beam"),
]


def _shared(settings: Section, section: type[Section]) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in section.model_fields}


class DocumentsSettings(Section):
    """`documents`: which documents get candidates, the first of each split, from every source."""

    train: Positive | None = Field(
        200, description="Documents of the split that get candidates, the first ones; null: all."
    )
    validation: Positive | None = Field(
        300, description="Documents of the split that get candidates, the first ones; null: all."
    )
    test: Literal[0] | None = Field(
        None, description="The same for test: null: all, as the system `elected` needs; 0: none."
    )

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have candidates."""
        return ("train", "validation") + (("test",) if self.test is None else ())


class PoolSettings(Section):
    """`pool`: how candidates are cleaned, who may be elected, and what becomes of documents where
    too few may."""

    clean: list[CleaningRule] = Field(
        list(CLEANING_RULES),
        description="Rules by which candidates are cleaned; docs/configuration.md says what each "
        "takes off.",
    )

    eligible: list[str] | None = Field(
        None, description="Sources whose candidates can be elected; null: all. All sources vote."
    )
    minimum: Annotated[int, Field(ge=2)] = Field(
        2, description="Fewest candidates of a document that can be elected."
    )
    too_few: Literal["refuse", "leave_out"] = Field(
        "refuse", description="Documents with fewer: refuse | leave_out (counted)."
    )
