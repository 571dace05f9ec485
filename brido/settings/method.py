"""Sections generation, pairwise, scoring, training and decoding: the method itself."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from brido.section import Alpha, Count, NonNegative, Positive, Section, Share


class CandidateFiles(Section):
    """`generation.files`: the user's own candidates (columns id, candidates), a file a split."""

    train: str | None = None
    validation: str | None = None


class GenerationSettings(Section):
    """`generation`: the N candidates of every document."""

    method: Literal["diverse_beam", "sampling", "files"] = "diverse_beam"
    num_candidates: Positive = 16
    num_beams: Positive = 16
    num_beam_groups: Positive = 2
    keep_every: Positive = 1
    diversity_penalty: NonNegative = 0.1
    length_penalty: float = 1.0
    min_length: Count = 0
    max_length: Positive = 64
    no_repeat_ngram_size: Count = 0
    early_stopping: Literal[True, False, "never"] = True
    temperature: Annotated[float, Field(gt=0)] = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 0.95
    seed: Count = 0
    files: CandidateFiles = CandidateFiles()
    max_source_tokens: Positive = 256
    train_documents: Positive | None = 600
    validation_documents: Positive | None = 300
    empty_documents: Literal["refuse", "leave_out"] = "refuse"

    @model_validator(mode="after")
    def _beams_fit(self) -> "GenerationSettings":
        problems = []
        if self.method == "diverse_beam":
            if self.num_beams % self.num_beam_groups:
                problems.append(
                    f"num_beam_groups ({self.num_beam_groups}) must divide num_beams "
                    f"({self.num_beams}): every group searches with the same number of beams"
                )
            if self.num_candidates * self.keep_every > self.num_beams:
                problems.append(
                    f"num_candidates x keep_every ({self.num_candidates} x {self.keep_every}) is "
                    f"more than num_beams ({self.num_beams}): raise num_beams or keep fewer"
                )
        if self.num_candidates < 2:
            problems.append("num_candidates must be at least 2: one candidate has nobody to agree")
        if self.min_length > self.max_length:
            problems.append(
                f"min_length ({self.min_length}) is more than max_length ({self.max_length})"
            )
        if problems:
            raise ValueError("\n".join(problems))
        return self


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
    decoder_prefix: Literal["generation", "brio"] = "generation"
    max_source_tokens: Positive = 256
    max_candidate_tokens: Positive = 64
    keep: Literal["last", "best_ranker", "best_generator"] = "last"
    validation: ValidationSettings = ValidationSettings()


class DecodingSettings(Section):
    """`decoding`: null means the checkpoint's own generation_config."""

    num_beams: Positive | None = None
    length_penalty: float | None = None
    min_length: Count | None = None
    max_length: Positive | None = None
    no_repeat_ngram_size: Count | None = None
    early_stopping: Literal[True, False, "never"] | None = None
    max_source_tokens: Positive = 256
