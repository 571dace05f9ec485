"""Sections generation, text, pairwise, scoring, training and decoding: the method itself."""

import sys
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, create_model

from brido.search.settings import (
    BeamSettings,
    NucleusSettings,
    SamplingSettings,
    SearchSettings,
)
from brido.section import (
    Alpha,
    Count,
    NonNegative,
    Positive,
    Section,
    Share,
    Variant,
    choose_by_default,
)


class _Generation(Variant):
    """`generation`, whatever its method: how many candidates, and of which documents."""

    chooser = "method"

    num_candidates: Positive = 16
    train_documents: Positive | None = 600
    validation_documents: Positive | None = 300
    empty_documents: Literal["refuse", "leave_out"] = "refuse"

    def problems(self) -> Iterator[str]:
        """A vote needs two."""
        yield from super().problems()
        if self.num_candidates < 2:
            yield "num_candidates must be at least 2: one candidate has nobody to agree"


class DiverseBeamGeneration(_Generation, BeamSettings):
    """`generation` by diverse beam search; every keep_every-th result is a candidate."""

    method: Literal["diverse_beam"] = "diverse_beam"
    keep_every: Positive = 1
    # Where params.yaml leaves these out, they are not the engine's defaults.
    num_beams: int = 16
    num_beam_groups: int = 2
    diversity_penalty: float = 0.1
    max_length: int = 64
    early_stopping: Literal[True, False, "never"] = True

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
        return SearchSettings(**_shared(self, BeamSettings), num_return_sequences=wanted)


class SamplingGeneration(_Generation, NucleusSettings):
    """`generation` by sampling; the seed and a document's id decide what is drawn for it."""

    method: Literal["sampling"]
    seed: Count = 0
    # As above.
    top_p: float = 0.95
    max_length: int = 64

    def search(self) -> SamplingSettings:
        """What the engine is asked for: a sample a candidate."""
        wanted = self.num_candidates
        return SamplingSettings(**_shared(self, NucleusSettings), num_return_sequences=wanted)


class CandidateFiles(Section):
    """`generation.files`: the user's own candidates (columns id, candidates), a file a split."""

    train: str
    validation: str


class FilesGeneration(_Generation):
    """`generation` from the user's own files."""

    method: Literal["files"]
    files: CandidateFiles


# `generation`: the N candidates of every document.
GenerationSettings = Annotated[
    DiverseBeamGeneration | SamplingGeneration | FilesGeneration,
    Field(discriminator="method"),
    choose_by_default("method", "diverse_beam"),
]


def _shared(settings: Section, section: type[Section]) -> dict[str, object]:
    """The values of the keys that `section` declares."""
    return {name: getattr(settings, name) for name in section.model_fields}


class TextSettings(Section):
    """`text`: how sentences are split wherever ROUGE-Lsum needs them."""

    sentence_splitter: Literal["abbreviations", "punkt"] = "abbreviations"


class PairwiseSettings(Section):
    """`pairwise`: R(x, y), the similarity of a pair."""

    combination: Literal["harmonic_r1_r2", "mean_r1_r2_rlsum"] = "harmonic_r1_r2"
    value: Literal["fmeasure", "precision", "recall", "mean_f_precision"] = "fmeasure"
    implementation: Literal["rouge_score", "pltrdy"] = "rouge_score"
    use_stemmer: bool = True


class ScoringSettings(Section):
    """`scoring`: Eq. 2, the vote."""

    alpha: Alpha = 0.0
    normalization: Literal["equation", "listing"] = "equation"


class ValidationSettings(Section):
    """`training.validation`: the checks during training."""

    every: Positive = 25
    documents: Positive = 100
    patience: Positive | None = None


class TrainingSettings(Section):
    """`training`: Eq. 1 and 3."""

    seed: Count = 0
    epochs: Positive = 1
    batch_size: Positive = 8
    optimizer: Literal["adam", "adamw"] = "adamw"
    weight_decay: NonNegative = 0.0
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 6e-4
    schedule: Literal["noam", "linear"] = "linear"
    warmup_steps: Count = 0
    max_gradient_norm: Annotated[float, Field(gt=0)] | None = 1.0
    gamma: NonNegative = 80.0
    length_penalty: float = 1.5
    likelihood_scale: Annotated[float, Field(gt=0)] = 1.0
    margin: NonNegative = 0.0245
    margin_kind: Literal["difference", "fixed"] = "difference"
    reduction: Literal["listing", "sum"] = "listing"
    gold_weight: NonNegative = 0.0
    gold_margin: NonNegative = 0.0
    label_smoothing: Share = 0.1
    max_candidate_tokens: Positive = 64
    keep: Literal["last", "best_ranker", "best_generator"] = "last"
    validation: ValidationSettings = ValidationSettings()


# The keys of a beam search, each of which may be null; one summary needs no groups.
_Decoding = create_model(
    "_Decoding",
    __base__=Section,
    **{
        name: (field.annotation | None, None)
        for name, field in BeamSettings.model_fields.items()
        if name not in {"num_beam_groups", "diversity_penalty"}
    },
)


class DecodingSettings(_Decoding):
    """`decoding`: null means the checkpoint's own generation_config."""

    early_stopping: Literal[True, False, "never"] | None = None

    def problems(self) -> Iterator[str]:
        """What is wrong with the given keys; the checkpoint's may have any length."""
        given = self.model_dump(exclude_none=True)
        yield from BeamSettings.model_construct(**{"max_length": sys.maxsize} | given).problems()
