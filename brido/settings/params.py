"""The whole of params.yaml, and what its sections demand of each other."""

import math
import re
from collections.abc import Iterator

from brido.corpus.settings import DataSettings, WorldData
from brido.models.settings import CheckpointSettings, ReadingSettings
from brido.section import Section
from brido.settings.evaluation import EvaluationSettings, ReportSettings
from brido.settings.method import (
    DecodingSettings,
    DiverseBeamGeneration,
    GenerationSettings,
    PairwiseSettings,
    ScoringSettings,
    TextSettings,
    TrainingSettings,
)
from brido.settings.runtime import RuntimeSettings


class Params(Section):
    """The whole of params.yaml."""

    data: DataSettings = WorldData()
    text: TextSettings = TextSettings()
    checkpoints: dict[str, CheckpointSettings]
    reading: dict[str, ReadingSettings] = {"default": ReadingSettings()}
    generation: GenerationSettings = DiverseBeamGeneration()
    pairwise: PairwiseSettings = PairwiseSettings()
    scoring: ScoringSettings = ScoringSettings()
    training: TrainingSettings = TrainingSettings()
    decoding: DecodingSettings = DecodingSettings()
    systems: list[str] = ["reference", "base", "tuned"]
    decoded_systems: list[str] = ["base", "tuned"]
    evaluation: EvaluationSettings = EvaluationSettings()
    report: ReportSettings = ReportSettings()
    runtime: RuntimeSettings = RuntimeSettings()

    def reading_of(self, name: str) -> ReadingSettings:
        """How the checkpoint `name` reads: its keys over the default's. `tuned` reads as `base`."""
        default = self.reading.get("default", ReadingSettings())
        own = self.reading.get("base" if name == "tuned" else name, default)
        return default.model_copy(update=own.model_dump(exclude_unset=True))

    def problems(self) -> Iterator[str]:
        """What the sections demand of each other."""
        yield from self._systems()
        yield from self._reading()
        yield from self._listing()

    def _systems(self) -> Iterator[str]:
        """What is wrong with the names of checkpoints and systems."""
        if "base" not in self.checkpoints:
            yield "checkpoints: `base` is missing: it is the model that is tuned"
        if {"tuned", "reference"} & set(self.checkpoints):
            yield "checkpoints: `tuned` and `reference` are made by the pipeline"
        if "default" in self.checkpoints:
            yield "checkpoints: `default` is no name: in `reading` it stands for all of them"
        for name in self.checkpoints:
            # It names a folder and a stage of DVC.
            if not re.fullmatch(r"[A-Za-z0-9_]+", name):
                yield f"checkpoints: {name!r} must be of letters, digits and _ alone"
        for key in ("systems", "decoded_systems"):
            names = getattr(self, key)
            if len(set(names)) < len(names):
                yield f"{key}: a name stands twice in {names}"
        models = [name for name in self.systems if name != "reference"]
        if models != self.decoded_systems:
            yield (
                f"decoded_systems: must be systems without reference, {models}, "
                f"not {self.decoded_systems}"
            )
        if not models:
            yield "systems: none of them writes summaries: name base, tuned or a checkpoint"
        unknown = [name for name in models if name not in {*self.checkpoints, "tuned"}]
        if unknown:
            yield f"systems: {unknown} are no keys of checkpoints (nor `tuned`)"

    def _reading(self) -> Iterator[str]:
        """`reading` names checkpoints."""
        known = ["default", *self.checkpoints]
        for name in self.reading:
            if name == "tuned":
                yield "reading.tuned: tuned reads as base does: put its keys into reading.base"
            elif name not in known:
                yield f"reading.{name}: no key of checkpoints; known here: {', '.join(known)}"

    def _listing(self) -> Iterator[str]:
        """The listing's normalisation exists for the alphas of its ranking modes alone."""
        half = self.generation.num_candidates - 1
        known = {0, 1, half, math.inf}
        if self.scoring.normalization == "listing" and self.scoring.alpha not in known:
            yield (
                f"scoring.alpha: normalization `listing` knows 0, 1, {half} (N-1) and inf, "
                f"not {self.scoring.alpha}; use normalization `equation`"
            )
