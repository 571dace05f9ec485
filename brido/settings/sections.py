"""The whole of params.yaml: its sections, and what they say of each system."""

from typing import Any, TypeVar

from pydantic import Field

from brido.candidates.settings import (
    NO_CHECKPOINT,
    DiverseBeamGeneration,
    DocumentsSettings,
    LocalSource,
    PoolSettings,
    SamplingGeneration,
    SourceSettings,
)
from brido.checkers.settings import MentionsSupport, SupportSettings
from brido.corpus.settings import DataSettings, WorldData
from brido.evaluation.registry import find_metric
from brido.evaluation.settings import EvaluationSettings
from brido.models.settings import CheckpointSettings, EmbeddedCheckpoint, ReadingSettings
from brido.report.settings import ChoiceSettings, ReportSettings
from brido.search.settings import DecodingSettings, GuidanceSettings
from brido.summarizer.settings import CheckedSettings, VariantSystem
from brido.training.settings import TrainingSettings
from brido.utils.sections import Section
from brido.vote.settings import LikelihoodSettings, PairwiseSettings, ScoringSettings
from brido.work.settings import RuntimeSettings

# Systems that no checkpoint writes: the corpus' own, and a vote on base's candidates.
MADE = ("reference", "elected")
# Names that no system can have; `chosen` is the one that stage choose keeps.
RESERVED = (*MADE, "default", "chosen", NO_CHECKPOINT)
_Settings = TypeVar("_Settings", bound=Section)


class TunedSystem(Section):
    """`tuned.SYSTEM`: what this system changes in sections scoring and training."""

    scoring: ScoringSettings = Field(
        ScoringSettings(), description="Keys of section scoring that this system changes."
    )
    training: TrainingSettings = Field(
        TrainingSettings(), description="Keys of section training that this system changes."
    )


class Sections(Section):
    """The sections of params.yaml, not yet checked against each other."""

    data: DataSettings = Field(
        WorldData(),
        description="Stage download: where the documents and their references come from.",
    )
    checkpoints: dict[str, CheckpointSettings] = Field(
        {"base": EmbeddedCheckpoint(source="embedded")},
        description="Stage checkpoint: a model per key; `base` is the one that is tuned.",
    )
    reading: dict[str, ReadingSettings] = Field(
        {"default": ReadingSettings()},
        description="How models read documents. A checkpoint's name beside `default` changes keys "
        "for it alone.",
    )
    documents: DocumentsSettings = Field(
        DocumentsSettings(), description="Which documents get candidates, from every source."
    )
    generation: dict[str, SourceSettings] = Field(
        {"base": DiverseBeamGeneration(checkpoint="base")},
        description="Stage generate: the sources of candidates, a name each.",
    )
    pool: PoolSettings = Field(
        PoolSettings(), description="Stage pool: the sources joined; who votes, who can be elected."
    )
    pairwise: PairwiseSettings = Field(
        PairwiseSettings(), description="Stage pairwise: R(x, y), the similarity of every pair."
    )
    support: SupportSettings = Field(
        MentionsSupport(), description="Stage support: does the source support a candidate?"
    )
    likelihood: LikelihoodSettings = Field(
        LikelihoodSettings(), description="Stage likelihood: log p of candidates under base."
    )
    scoring: ScoringSettings = Field(
        ScoringSettings(), description="Stage score: Eq. 2, and what else orders candidates."
    )
    training: TrainingSettings = Field(TrainingSettings(), description="Stage train: Eq. 1 and 3.")
    tuned: dict[str, TunedSystem] = Field(
        {
            "vote": TunedSystem(),
            "information": TunedSystem(scoring=ScoringSettings(information=0.5, prior_weight=0.2)),
            "control": TunedSystem(scoring=ScoringSettings(shuffle=True)),
        },
        description="Systems that training makes from base, by what each changes in scoring and "
        "training.",
    )
    decoding: DecodingSettings = Field(
        DecodingSettings(),
        description="Stage decode, every system alike; null: the checkpoint's own "
        "generation_config.",
    )
    variants: dict[str, VariantSystem] = Field(
        {
            "guided": VariantSystem(checkpoint="base", guidance=GuidanceSettings()),
            "short": VariantSystem(checkpoint="base", length_penalty=-4.0),
            "checked": VariantSystem(checkpoint="base", checked=CheckedSettings()),
        },
        description="Systems that a checkpoint or a server writes, untrained.",
    )
    systems: list[str] = Field(
        ["reference", "base", "elected"],
        description="Further rows of every table; `elected` is the vote's candidate.",
    )
    evaluation: EvaluationSettings = Field(
        EvaluationSettings(), description="Stage evaluate: one table per system and metric."
    )
    choice: ChoiceSettings = Field(
        ChoiceSettings(),
        description="Stage choose: which system the run keeps, on validation documents.",
    )
    report: ReportSettings = Field(ReportSettings(), description="Stage report.")
    runtime: RuntimeSettings = Field(
        RuntimeSettings(), description="Speed and limits only: no stage depends on them."
    )

    def reading_of(self, name: str) -> ReadingSettings:
        """How the model of a system reads: its checkpoint's keys over the default's.

        Tuned systems read as base, variants as their checkpoint, or as their server is asked.
        """
        if asked := self.variant_of(name).endpoint:
            return asked.reading
        default = self.reading.get("default", ReadingSettings())
        model = self.model_of(name)
        own = self.reading.get("base" if model in self.tuned else model, default)
        return default.model_copy(update=own.model_dump(exclude_unset=True))

    def variant_of(self, system: str) -> VariantSystem:
        """Section `variants.SYSTEM`; of another system a variant of its own model, unchanged."""
        # Not checked: a source without a model asks too, and its checkpoint is `none`.
        return self.variants.get(system) or VariantSystem.model_construct(checkpoint=system)

    def model_of(self, system: str) -> str:
        """The folder of data/checkpoints whose model writes a system's summaries."""
        return self.variant_of(system).checkpoint

    def decoding_of(self, system: str) -> DecodingSettings:
        """Section decoding with what `variants.SYSTEM` changes."""
        return self.variant_of(system).decoding(self.decoding)

    def picked_by(self, system: str) -> str | None:
        """The checker that picked a system's summaries: it cannot judge them alone. None: none."""
        checked = self.variant_of(system).checked
        return checked.by if checked else None

    def candidates_of(self, system: str) -> LocalSource | None:
        """How `generation` writes candidates with a system's model, tuned ones as base.

        None where it writes none with this model.
        """
        model = self.model_of(system)
        wanted = "base" if model in self.tuned else model
        local = (
            source
            for source in self.generation.values()
            if isinstance(source, DiverseBeamGeneration | SamplingGeneration)
        )
        return next((source for source in local if source.checkpoint == wanted), None)

    def usage_of(self, system: str) -> dict[str, Any]:
        """How a system reads and writes, as `brido.summarizer.usage.usage_of` takes it."""
        variant = self.variant_of(system)
        return {
            "reading": self.reading_of(system),
            "decoding": variant.decoding(self.decoding),
            "guidance": variant.guidance,
            "system": system,
            "lowercase": self.data.lowercase,
            "checked": variant.checked,
            "candidates": self.candidates_of(system),
        }

    def scoring_of(self, system: str) -> ScoringSettings:
        """Section scoring with what `tuned.SYSTEM` changes."""
        return _overlaid(self.scoring, self.tuned[system].scoring)

    def training_of(self, system: str) -> TrainingSettings:
        """Section training with what `tuned.SYSTEM` changes."""
        return _overlaid(self.training, self.tuned[system].training)

    @property
    def has_base(self) -> bool:
        """Whether there is a model to tune; without one a run ends with check and scores."""
        base = self.checkpoints.get("base")
        return base is None or base.source != NO_CHECKPOINT

    @property
    def all_systems(self) -> list[str]:
        """The rows of every table: `systems`, then the variants, then the tuned ones."""
        return [*self.systems, *self.variants, *self.tuned]

    @property
    def choosable(self) -> list[str]:
        """The systems that stage choose compares; base first."""
        written = [name for name in self.all_systems if name not in MADE]
        among = written if self.choice.among is None else self.choice.among
        return ["base", *(name for name in among if name != "base")]

    @property
    def decides(self) -> str | None:
        """METRIC.COLUMN that decides the choice: `choice.by`, or what says which are good.

        On the world that is a metric that knows its facts, elsewhere one that needs none. None if
        no such metric is measured.
        """
        says_good = (
            f"{metric.name}.good"
            for metric in map(find_metric, self.evaluation.metrics)
            if metric.chooses
            and "good" in metric.names
            and metric.needs_facts == (self.data.source == "world")
        )
        return self.choice.by or next(says_good, None)

    @property
    def measures(self) -> str | None:
        """METRIC.COLUMN of another check than the one that decides, which measures the choice.

        None where only one is measured, and where the one that decides knows the world's facts. If
        another one decides on the world, the one that knows them measures.
        """
        own = find_metric((self.decides or "").partition(".")[0]) if self.decides else None
        if own is None or own.needs_facts:
            return None
        others = [
            metric
            for metric in map(find_metric, self.evaluation.metrics)
            if metric.support and metric.name != own.name
        ]
        # The registry's order: later ones read more.
        others.sort(key=lambda metric: metric.needs_facts)
        return next((f"{one.name}.{one.decides}" for one in reversed(others)), None)

    @property
    def control(self) -> str | None:
        """The first tuned system whose scores are shuffled."""
        return next((name for name in self.tuned if self.scoring_of(name).shuffle), None)

    @property
    def num_candidates(self) -> int:
        """N, the candidates of a document from all sources together."""
        return sum(source.num_candidates for source in self.generation.values())


def _overlaid(shared: _Settings, changes: _Settings) -> _Settings:
    """Return the section `shared` with the keys that `changes` sets, at any depth.

    Raises:
        ValueError: the values do not fit together (pydantic's, with every problem).
    """
    merged = _merged(shared.model_dump(), changes.model_dump(exclude_unset=True))
    return type(shared).model_validate(merged)


def _merged(shared: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    result = dict(shared)
    for key, value in changes.items():
        old = result.get(key)
        nested = isinstance(value, dict) and isinstance(old, dict)
        result[key] = _merged(old or {}, value) if nested else value
    return result
