"""Section training: Eq. 1 and 3, and how they are trained."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from brido.models.settings import LoraSettings, Warmup
from brido.utils.sections import (
    Count,
    Exponent,
    NonNegative,
    Number,
    PartialShare,
    Positive,
    Section,
    Size,
)


class ValidationSettings(Section):
    """`training.validation`: the checks during training."""

    every: Positive = Field(5, description="Updates between two validations.")
    documents: Positive = Field(100, description="Validation documents, evenly spread over all.")


class TrainingSettings(Section):
    """`training`: Eq. 1 and 3."""

    seed: Count = Field(0, description="Decides the order of documents and what is dropped.")
    epochs: Positive = Field(1, description="Passes over the documents.")
    batch_size: Positive = Field(8, description="Documents of an update, over all processes.")
    optimizer: Literal["adam", "adamw"] = Field("adamw", description="adam | adamw.")
    weight_decay: NonNegative = Field(
        0.0, description="Weight decay; with adam an L2 term of the gradient."
    )
    learning_rate: Number = Field(
        2e-4,
        description="Highest learning rate; for noam its factor (BRIO: 0.002, which gives at "
        "most 2e-5).",
    )
    schedule: Literal["noam", "linear"] = Field("linear", description="linear | noam (BRIO).")
    warmup_steps: Warmup = Field(
        0,
        description="Updates until the learning rate is highest; below 1: this share of all "
        "updates.",
    )
    max_gradient_norm: Number | None = Field(
        1.0, description="Longer gradients are clipped; null: no clipping."
    )
    gamma: NonNegative = Field(
        80.0,
        description="[gamma] weight of Eq. 1; 0: maximum likelihood alone, same steps.",
    )
    length_penalty: Exponent = Field(1.5, description="[beta] exponent of the length in f(S).")
    likelihood_scale: Number = Field(1.0, description="Factor on f(S); BRIO's XSum: 0.01.")
    margin: NonNegative = Field(0.0245, description="[lambda] margin of a pair.")
    margin_kind: Literal["difference", "fixed"] = Field(
        "difference", description="difference (of scores, times margin) | fixed (of ranks)."
    )
    reduction: Literal["listing", "sum"] = Field(
        "listing", description="listing (the paper's code: means by difference of ranks) | sum."
    )
    gold_weight: NonNegative = Field(
        0.0, description='Weight of the term "the reference before every candidate".'
    )
    gold_margin: NonNegative = Field(0.0, description="Margin of the reference before a candidate.")
    label_smoothing: PartialShare = Field(
        0.1, description="Probability that the target spreads over the whole vocabulary."
    )
    cross_entropy: Literal["reference", "elected"] = Field(
        "reference",
        description=(
            "What the cross-entropy teaches: reference | elected (always so without a reference)."
        ),
    )
    lora: LoraSettings | None = Field(
        None,
        description=(
            "null: all weights train; else {rank, alpha, dropout}, docs/configuration.md."
        ),
    )
    # One would be the end token or a first word alone.
    max_candidate_tokens: Annotated[Size, Field(ge=2)] = Field(
        64, description="Tokens of a candidate that are scored."
    )
    keep: Literal["last", "best_ranker", "best_generator"] = Field(
        "last", description="The update that is kept: last | best_ranker | best_generator."
    )
    validation: ValidationSettings = Field(
        ValidationSettings(), description="The checks during training."
    )

    def problems(self) -> Iterator[str]:
        """A term without the text that it compares."""
        if self.gold_weight and self.cross_entropy == "elected":
            yield (
                f"gold_weight ({self.gold_weight:g}): the reference is not scored where "
                "cross_entropy is elected: set gold_weight to 0, or cross_entropy to reference"
            )
