"""The method itself: documents, pool, pairwise, scoring, training, decoding, text."""

import sys
from collections.abc import Iterator
from typing import Annotated, Literal, get_args

from pydantic import Field, create_model

from brido.models.settings import LoraSettings
from brido.search.settings import BeamSettings
from brido.section import (
    Alpha,
    Count,
    Exponent,
    NonNegative,
    Number,
    Part,
    Positive,
    Section,
    Share,
    Size,
    Warmup,
)


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
    voters: Literal["equal", "probability", "chance"] = "equal"
    temperature: Annotated[float, Field(gt=0)] = 1.0
    support_weight: Share = 0.0
    unit: Literal["summary", "sentence"] = "summary"

    def problems(self) -> Iterator[str]:
        """The listing knows one kind of vote."""
        if self.normalization == "listing" and self.voters == "probability":
            yield "voters: probability goes with normalization `equation`, not with `listing`"


class ValidationSettings(Section):
    """`training.validation`: the checks during training."""

    every: Positive = 25
    documents: Positive = 100
    patience: Positive | None = None


class TrainingSettings(Section):
    """`training`: Eq. 1 and 3."""

    seed: Count = 0
    epochs: Positive = 3
    batch_size: Positive = 8
    optimizer: Literal["adam", "adamw"] = "adamw"
    weight_decay: NonNegative = 0.0
    learning_rate: Number = 2e-4
    schedule: Literal["noam", "linear"] = "linear"
    warmup_steps: Warmup = 0
    max_gradient_norm: Number | None = 1.0
    gamma: NonNegative = 80.0
    length_penalty: Exponent = 1.5
    likelihood_scale: Number = 1.0
    margin: NonNegative = 0.0245
    margin_kind: Literal["difference", "fixed"] = "difference"
    min_gap: Annotated[float, Field(ge=0, lt=1)] = 0.0
    reduction: Literal["listing", "sum"] = "listing"
    gold_weight: NonNegative = 0.0
    gold_margin: NonNegative = 0.0
    label_smoothing: Part = 0.1
    cross_entropy: Literal["reference", "elected"] = "reference"
    anchor: Literal["base"] | None = None
    lora: LoraSettings | None = None
    # One would be the end token or a first word alone.
    max_candidate_tokens: Annotated[Size, Field(ge=2)] = 64
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
