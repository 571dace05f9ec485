"""Section training: Eq. 1 and 3."""

from typing import Annotated, Literal

from pydantic import Field

from brido.models.settings import LoraSettings, Warmup
from brido.settings.base import Count, Exponent, NonNegative, Number, Part, Positive, Section, Size


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
