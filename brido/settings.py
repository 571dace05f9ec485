"""The sections of params.yaml as typed models: one class a section, an unknown key is an error.

Every model is frozen and strict (no text where a number belongs). What params.yaml says in comments
is not repeated here; what only code needs to know (ranges, relations between keys) stands here.
"""

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _infinity(value: Any) -> Any:
    """Accept infinity as DVC and YAML write it: the number, or the text inf or .inf."""
    if isinstance(value, str):
        if value.strip().lower() in {"inf", ".inf", "+inf", "+.inf"}:
            return math.inf
        raise ValueError("must be a number of at least 0, or inf for the reference alone (BRIO)")
    return value


Alpha = Annotated[float, BeforeValidator(_infinity), Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """A section of params.yaml: unknown keys are refused, values are never coerced or changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class WorldSettings(Section):
    """`data.world`: the embedded synthetic news."""

    seed: Count = 0
    train: Count = 5000
    validation: Count = 300
    test: Count = 500
    support_rate: Share = 0.35
    counties_from_towns: bool = False
    formulaic_extras: bool = False
    extras_per_reference: tuple[Positive, Positive] = Field((1, 2), strict=False)
    bare_references: Share = 0.015

    @model_validator(mode="after")
    def _fewest_first(self) -> "WorldSettings":
        fewest, most = self.extras_per_reference
        if fewest > most:
            raise ValueError(f"extras_per_reference: {fewest} is more than {most}; fewest first")
        return self


class RowCounts(Section):
    """`data.hub.expected_rows`: how many rows each split must have."""

    train: Positive
    validation: Positive
    test: Positive


class HubSettings(Section):
    """`data.hub`: a data set of the Hugging Face hub."""

    id: str = "EdinburghNLP/xsum"
    config: str | None = None
    revision: str | None = None
    train_split: str = "train"
    validation_split: str = "validation"
    test_split: str = "test"
    id_column: str | None = "id"
    document_column: str = "document"
    summary_column: str = "summary"
    expected_rows: RowCounts | None = None


class FilesSettings(Section):
    """`data.files`: the user's own JSONL, CSV, TSV or Parquet files (paths or globs)."""

    train: str | list[str] | None = None
    validation: str | list[str] | None = None
    test: str | list[str] | None = None
    id_column: str | None = "id"
    document_column: str = "document"
    summary_column: str = "summary"
    references_column: str | None = None
    validation_fraction: Share = 0.05
    test_fraction: Share = 0.05
    split_seed: Count = 0


class DataSettings(Section):
    """`data`: where the documents and their references come from."""

    source: Literal["world", "hub", "files"] = "world"
    world: WorldSettings = WorldSettings()
    hub: HubSettings = HubSettings()
    files: FilesSettings = FilesSettings()
    lowercase: bool = False
    max_documents: Positive | None = None
    max_bad_fraction: Share = 0.0


class TextSettings(Section):
    """`text`: how sentences are split wherever ROUGE-Lsum needs them."""

    sentence_splitter: Literal["abbreviations", "punkt"] = "abbreviations"


class EmbeddedSettings(Section):
    """`checkpoints.NAME.embedded`: a BART trained from scratch on the corpus."""

    seed: Count = 0
    tokenizer: Literal["word", "bpe"] = "word"
    vocabulary_size: Positive = 4000
    d_model: Positive = 128
    encoder_layers: Positive = 2
    decoder_layers: Positive = 1
    attention_heads: Positive = 4
    ffn_dim: Positive = 256
    dropout: Share = 0.0
    max_source_tokens: Positive = 256
    max_summary_tokens: Positive = 64
    epochs: Positive = 3
    batch_size: Positive = 16
    learning_rate: Annotated[float, Field(gt=0)] = 3e-3
    label_smoothing: Share = 0.1
    num_beams: Positive = 4
    length_penalty: float = 1.0


class CheckpointSettings(Section):
    """`checkpoints.NAME`: `embedded`, a hub id, or a folder written by save_pretrained."""

    source: str
    revision: str | None = None
    embedded: EmbeddedSettings = EmbeddedSettings()


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
    learning_rate: Annotated[float, Field(gt=0)] = 2e-4
    schedule: Literal["noam", "linear"] = "linear"
    warmup_steps: Count = 0
    max_gradient_norm: Annotated[float, Field(gt=0)] | None = 1.0
    gamma: NonNegative = 100.0
    length_penalty: float = 1.5
    likelihood_scale: Annotated[float, Field(gt=0)] = 1.0
    margin: NonNegative = 0.02
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


class RougeMetricSettings(Section):
    """`evaluation.rouge`."""

    use_stemmer: bool = True


class MentionsSettings(Section):
    """`evaluation.mentions`."""

    case_sensitive: bool = True


class ExtractivenessSettings(Section):
    """`evaluation.extractiveness`."""

    novel_ngrams: Positive = 2


class WorldQASettings(Section):
    """`evaluation.world_qa`: nothing to set."""


class WorldJudgeSettings(Section):
    """`evaluation.world_judge`: nothing to set."""


class QAFactEvalSettings(Section):
    """`evaluation.qafacteval`: the neural QAFactEval, everything that can change a number."""

    models: str = "hub"
    spacy_model: str = "en_core_web_sm"
    answers: Literal["noun_chunks", "ner", "max_np", "all"] = "noun_chunks"
    scorer: Literal["lerc_quip", "lerc"] = "lerc_quip"
    faithful: bool = True


class GEvalSettings(Section):
    """`evaluation.geval`: the LLM judge, everything that can change a mark."""

    backend: Literal["openai", "transformers"] = "openai"
    model: str | None = None
    revision: str | None = None
    prompt: str = "merged"
    score_mode: Literal["mean", "probability", "greedy"] = "mean"
    samples: Annotated[int, Field(ge=1, le=1000)] = 20
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = 1.0
    max_answer_tokens: Positive | None = 256
    structured_output: Literal["auto", "always", "never"] = "auto"
    top_logprobs: Annotated[int, Field(ge=2, le=20)] = 20
    seed: int | None = None
    extra_parameters: dict[str, Any] = {}
    max_invalid_fraction: Share = 0.05


class EvaluationSettings(Section):
    """`evaluation`: the metrics that are measured and the settings of each."""

    metrics: list[str] = ["rouge", "mentions", "extractiveness", "world_qa", "world_judge"]
    rouge: RougeMetricSettings = RougeMetricSettings()
    mentions: MentionsSettings = MentionsSettings()
    extractiveness: ExtractivenessSettings = ExtractivenessSettings()
    world_qa: WorldQASettings = WorldQASettings()
    world_judge: WorldJudgeSettings = WorldJudgeSettings()
    qafacteval: QAFactEvalSettings = QAFactEvalSettings()
    geval: GEvalSettings = GEvalSettings()

    @model_validator(mode="after")
    def _known_metrics(self) -> "EvaluationSettings":
        known = [name for name in type(self).model_fields if name != "metrics"]
        unknown = [name for name in self.metrics if name not in known]
        if unknown:
            raise ValueError(f"metrics: unknown {unknown}; known are {known}")
        return self


class ReportSettings(Section):
    """`report`: intervals, figures and the page."""

    bootstrap_samples: Positive = 1000
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: Count = 0
    length_warning: Share = 0.03
    page_documents: Positive = 60


class JudgeRuntime(Section):
    """`runtime.judge`: where and how fast a judge is asked, and for how much money."""

    base_url: Annotated[str, Field(pattern="^https?://")] | None = None
    api_key_env: str | None = None
    store: str = ".brido/judge/answers.sqlite"
    max_concurrency: Annotated[int, Field(ge=1, le=1024)] = 32
    samples_per_call: Annotated[int, Field(ge=1, le=128)] = 1
    timeout_seconds: Annotated[float, Field(gt=0)] = 120.0
    max_attempts: Positive = 8
    patience_seconds: Annotated[float, Field(gt=0)] = 300.0
    max_cost: NonNegative | None = None
    max_tokens: Positive | None = None
    input_price: NonNegative | None = None
    output_price: NonNegative | None = None
    dry_run: bool = False
    replay: bool = False
    show_content: bool = False
    batch_size: Positive = 8


class RuntimeSettings(Section):
    """`runtime`: speed and limits; in no stage's params and in no fingerprint."""

    device: str = "auto"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    threads: Count = 0
    batch_tokens: Positive = 16384
    shard_documents: Positive = 200
    checkpoint_minutes: Annotated[float, Field(gt=0)] = 10.0
    candidate_micro_batch: Positive | None = None
    gradient_checkpointing: bool = False
    log_seconds: Annotated[float, Field(gt=0)] = 10.0
    judge: JudgeRuntime = JudgeRuntime()


class Params(Section):
    """The whole of params.yaml."""

    data: DataSettings = DataSettings()
    text: TextSettings = TextSettings()
    checkpoints: dict[str, CheckpointSettings]
    generation: GenerationSettings = GenerationSettings()
    pairwise: PairwiseSettings = PairwiseSettings()
    scoring: ScoringSettings = ScoringSettings()
    training: TrainingSettings = TrainingSettings()
    decoding: DecodingSettings = DecodingSettings()
    systems: list[str] = ["reference", "base", "tuned"]
    decoded_systems: list[str] = ["base", "tuned"]
    evaluation: EvaluationSettings = EvaluationSettings()
    report: ReportSettings = ReportSettings()
    runtime: RuntimeSettings = RuntimeSettings()

    @model_validator(mode="after")
    def _relations(self) -> "Params":
        problems = []
        if "base" not in self.checkpoints:
            problems.append("checkpoints: `base` is missing: it is the model that is tuned")
        if {"tuned", "reference"} & set(self.checkpoints):
            problems.append("checkpoints: `tuned` and `reference` are made by the pipeline")
        models = [name for name in self.systems if name != "reference"]
        if models != self.decoded_systems:
            problems.append(
                f"decoded_systems: must be systems without reference, {models}, "
                f"not {self.decoded_systems}"
            )
        unknown = [name for name in models if name not in {*self.checkpoints, "tuned"}]
        if unknown:
            problems.append(f"systems: {unknown} are no keys of checkpoints (nor `tuned`)")
        half = self.generation.num_candidates - 1
        if self.scoring.normalization == "listing" and self.scoring.alpha not in {
            0, 1, half, math.inf,
        }:  # fmt: skip
            problems.append(
                f"scoring.alpha: normalization `listing` knows 0, 1, {half} (N-1) and inf, "
                f"not {self.scoring.alpha}; use normalization `equation`"
            )
        if problems:
            raise ValueError("\n".join(problems))
        return self
