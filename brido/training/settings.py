"""Section training: the losses over candidates, and Eq. 3."""

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
    loss: Literal["ranking", "spread", "listwise"] = Field(
        "ranking",
        description="ranking (Eq. 1) | spread (variance of f(S), no order) | listwise (InfoNCA).",
    )
    gamma: NonNegative = Field(
        80.0,
        description="[gamma] weight of that loss; 0: maximum likelihood alone, same steps.",
    )
    length_penalty: Exponent = Field(1.5, description="[beta] exponent of the length in f(S).")
    likelihood_scale: Number = Field(
        1.0, description="For ranking and spread: factor on f(S); BRIO's XSum: 0.01."
    )
    temperature: Number = Field(
        1.0, description="For listwise: the smaller, the larger the best candidates' target shares."
    )
    log_ratio_scale: Number = Field(
        0.5, description="For listwise: factor on a candidate's log p - log p_base."
    )
    margin: NonNegative = Field(
        0.0245,
        description="For ranking: [lambda] margin of a pair; with `anchor` it must be larger.",
    )
    margin_kind: Literal["difference", "fixed"] = Field(
        "difference",
        description="For ranking: difference (of scores, times margin) | fixed (of ranks).",
    )
    reduction: Literal["listing", "sum"] = Field(
        "listing",
        description="For ranking: listing (the paper's code: means by difference of ranks) | sum.",
    )
    gold_weight: NonNegative = Field(
        0.0, description='For ranking: weight of the term "the reference before every candidate".'
    )
    gold_margin: NonNegative = Field(
        0.0, description="For ranking: margin of the reference before a candidate."
    )
    label_smoothing: PartialShare = Field(
        0.1, description="Probability that the target spreads over the whole vocabulary."
    )
    cross_entropy: Literal["reference", "elected"] = Field(
        "reference",
        description=(
            "What the cross-entropy teaches: reference | elected (always so without a reference)."
        ),
    )
    anchor: Literal["base"] | None = Field(
        None,
        description=(
            "For ranking: base (rank f(S) - f_base(S), for models that drift) | null (f(S))."
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
        """Terms that the loss does not have."""
        if self.gold_weight and self.loss != "ranking":
            yield (
                f"gold_weight ({self.gold_weight:g}): only loss ranking has this term: with loss "
                f"{self.loss} set it to 0"
            )
        if self.gold_weight and self.cross_entropy == "elected":
            yield (
                f"gold_weight ({self.gold_weight:g}): the reference is not scored where "
                "cross_entropy is elected: set gold_weight to 0, or cross_entropy to reference"
            )
        if self.anchor and self.loss == "spread":
            yield "anchor: loss spread compares nothing with base: set anchor to null"

    @property
    def asks_base(self) -> bool:
        """Whether training needs the base's likelihood of every candidate."""
        return bool(self.gamma) and (self.loss == "listwise" or self.anchor == "base")

    @property
    def compared_length_penalty(self) -> float:
        """The exponent of the length in the likelihoods of the loss; listwise takes whole sums."""
        return 0.0 if self.loss == "listwise" else self.length_penalty
