"""The whole of params.yaml, and what its sections demand of each other."""

import re
from collections.abc import Iterable, Iterator, Sequence

from pydantic import Field

from brido.candidates.settings import (
    NO_CHECKPOINT,
    DiverseBeamGeneration,
    DocumentsSettings,
    EndpointGeneration,
    PoolSettings,
    SourceSettings,
)
from brido.checkers.settings import MentionsSupport, SupportSettings
from brido.corpus.settings import DataSettings, WorldData
from brido.evaluation.settings import EvaluationSettings
from brido.models.settings import CheckpointSettings, ReadingSettings
from brido.report.settings import ReportSettings
from brido.search.settings import DecodingSettings, GuidedSystem
from brido.training.settings import TrainingSettings
from brido.utils.errors import quoted, short
from brido.utils.sections import Section
from brido.vote.settings import LikelihoodSettings, PairwiseSettings, ScoringSettings
from brido.work.settings import RuntimeSettings

# Systems that no checkpoint writes: the corpus' own, and a vote on base's candidates.
_MADE = ("reference", "elected")
# Names that no checkpoint can have.
_RESERVED = (*_MADE, "tuned", "default", NO_CHECKPOINT)


class Params(Section):
    """The whole of params.yaml."""

    data: DataSettings = Field(
        WorldData(),
        description="Stage download: where the documents and their references come from.",
    )
    checkpoints: dict[str, CheckpointSettings] = Field(
        description="Stage checkpoint: a system per key; `base` is the one that is tuned."
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
    decoding: DecodingSettings = Field(
        DecodingSettings(),
        description="Stage decode, every system alike; null: the checkpoint's own "
        "generation_config.",
    )
    guidance: dict[str, GuidedSystem] = Field(
        {"guided": GuidedSystem()},
        description="Stage guide: systems that a checkpoint writes with guidance, untuned.",
    )
    systems: list[str] = Field(
        ["reference", "base", "guided", "elected", "tuned"],
        description="Rows of every table; `elected` is the vote's candidate, without tuning.",
    )
    decoded_systems: list[str] = Field(
        ["base", "tuned"],
        description="Those of `systems` that a checkpoint writes, which DVC cannot work out.",
    )
    evaluation: EvaluationSettings = Field(
        EvaluationSettings(), description="Stage evaluate: one table per system and metric."
    )
    report: ReportSettings = Field(ReportSettings(), description="Stage report.")
    runtime: RuntimeSettings = Field(
        RuntimeSettings(), description="Speed and limits only: no stage depends on them."
    )

    def reading_of(self, name: str) -> ReadingSettings:
        """How the checkpoint `name` reads: its keys over the default's. `tuned` reads as `base`."""
        default = self.reading.get("default", ReadingSettings())
        own = self.reading.get("base" if name == "tuned" else name, default)
        return default.model_copy(update=own.model_dump(exclude_unset=True))

    @property
    def num_candidates(self) -> int:
        """N, the candidates of a document from all sources together."""
        return sum(source.num_candidates for source in self.generation.values())

    def problems(self) -> Iterator[str]:
        """What the sections demand of each other."""
        yield from self._systems()
        yield from self._references()
        yield from self._guided()
        yield from self._sources()
        yield from self._pool()
        yield from self._reading()
        if not self.scoring.is_defined(self.num_candidates):
            yield (
                "scoring.alpha: normalization `listing` is defined for 0, 1, "
                f"{self.num_candidates - 1} (N-1) and inf, not {self.scoring.alpha}; use "
                "normalization `equation`"
            )
        if self.scoring.information and self.scoring.prior_weight and not self.likelihood.others:
            yield (
                "likelihood.others: must be 1 or more, because scoring.information needs the "
                "candidates' likelihood with other documents. Or set scoring.prior_weight to 0"
            )

    def _systems(self) -> Iterator[str]:
        if "base" not in self.checkpoints:
            yield "checkpoints: `base` is missing: it is the model that is tuned"
        yield from _bad_names("checkpoints", self.checkpoints, _RESERVED)
        for name, checkpoint in self.checkpoints.items():
            form = "embedded" if checkpoint.source == "embedded" else "fine_tuning"
            learns = getattr(checkpoint, form)
            if learns and learns.world and self.data.source != "world":
                yield (
                    f"checkpoints.{name}.{form}.world: data.source is {self.data.source}, so there "
                    "is no world: write null to learn from the training split"
                )
        if len(set(self.systems)) < len(self.systems):
            yield f"systems: a name stands twice in {quoted(self.systems)}"
        made = {*_MADE, *self.guidance}
        models = [name for name in self.systems if name not in made]
        if "base" not in models:
            yield (
                "systems: base is missing, and every other system is compared with it. Write "
                f"`systems: {_listed(['base', *self.systems])}` and "
                f"`decoded_systems: {_listed(['base', *models])}`"
            )
        elif models != self.decoded_systems:
            yield (
                f"decoded_systems: write {_listed(models)}, not {_listed(self.decoded_systems)}. "
                "These are the `systems` that a checkpoint writes, in the same order"
            )
        if "elected" in self.systems and "test" not in self.documents.splits:
            yield (
                "systems: `elected` needs candidates of test documents: set documents.test to "
                "null, or delete `elected`"
            )
        unknown = [name for name in models if name not in {*self.checkpoints, "tuned"}]
        if unknown:
            yield (
                f"systems: {quoted(unknown)} are not keys of checkpoints or guidance (nor `tuned`)"
            )

    def _references(self) -> Iterator[str]:
        """What needs references where the corpus has none."""
        if self.data.labelled:
            return
        column = f"data.{self.data.source}.summary_column is null"
        if "reference" in self.systems:
            yield f"systems: remove `reference`, because there are no references ({column})"
        if self.scoring.alpha:
            yield (
                f"scoring.alpha: {self.scoring.alpha:g} gives references a weight, but there are "
                f"none ({column}): set it to 0"
            )

    def _guided(self) -> Iterator[str]:
        known = [*self.checkpoints, "tuned"]
        yield from _bad_names("guidance", self.guidance, (*_MADE, *known))
        for name, system in self.guidance.items():
            if system.checkpoint not in known:
                yield _no_key(
                    f"guidance.{name}.checkpoint", system.checkpoint, "checkpoints", known
                )

    def _sources(self) -> Iterator[str]:
        yield from _bad_names("generation", self.generation)
        known = list(self.checkpoints)
        for name, source in self.generation.items():
            asked = source.checkpoint
            if isinstance(source, EndpointGeneration):
                yield from self._endpoint(name, source)
            elif not (asked in self.checkpoints or (asked == NO_CHECKPOINT and source.asks_none())):
                yield _no_key(f"generation.{name}.checkpoint", asked, "checkpoints", known)
            lacks = source.method == "files" and source.files.test is None
            if lacks and "test" in self.documents.splits:
                yield (
                    f"generation.{name}.files.test: name a file, or set documents.test to 0 and "
                    "remove the system elected"
                )
        if self.num_candidates < 2:
            yield "generation: num_candidates must be at least 2 over all sources"

    def _endpoint(self, name: str, source: EndpointGeneration) -> Iterator[str]:
        servers = ["default", *self.runtime.endpoints]
        if source.endpoint not in servers:
            yield _no_key(
                f"generation.{name}.endpoint", source.endpoint, "runtime.endpoints", servers
            )
        if name in self.checkpoints:
            yield (
                f"generation.{name}: a checkpoint has the same name, and a key of `reading` would "
                "mean both: rename one of them"
            )
        elif (reading := self.reading_of(name)).prompt is None:
            yield (
                f"reading.{name}.prompt: this key is missing. It tells the endpoint what to write, "
                "for instance 'Summarize this text in one sentence:\\n\\n{{ document }}'"
            )
        else:
            from brido.models.prompt import message_problems

            yield from message_problems(reading, f"reading.{name}")

    def _pool(self) -> Iterator[str]:
        sources = list(self.generation)
        names = sources if self.pool.eligible is None else self.pool.eligible
        if not set(names) <= set(sources) or len(set(names)) < len(names):
            yield (
                f"pool.eligible: {quoted(names)} must be keys of generation "
                f"({', '.join(sources)}), each once; null: all of them"
            )
            return
        count = sum(self.generation[name].num_candidates for name in names)
        if count < self.pool.minimum and self.num_candidates >= 2:
            yield (
                f"pool.minimum: {self.pool.minimum} is more than the {count} candidates of the "
                f"sources that can be elected ({', '.join(names) or 'none'}; pool.eligible)"
            )

    def _reading(self) -> Iterator[str]:
        asked = [name for name, one in self.generation.items() if one.method == "endpoint"]
        known = ["default", *self.checkpoints, *asked]
        for name in self.reading:
            if name not in known:
                yield _no_key("reading", name, "checkpoints, nor an endpoint of generation", known)


def _listed(names: Sequence[str]) -> str:
    """Names as a list in params.yaml."""
    return f"[{', '.join(map(short, names))}]"


def _no_key(key: str, name: str, section: str, known: Sequence[str]) -> str:
    return f"{key}: {quoted(name)} is not a key of {section}; known here: {', '.join(known)}"


def _bad_names(section: str, names: Iterable[str], taken: Sequence[str] = ()) -> Iterator[str]:
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_]+", name):
            yield f"{section}: {quoted(name)} must consist of letters, digits and _ only"
        if name in taken:
            yield f"{section}: `{name}` cannot be a name here: it means something else"
