"""The whole of params.yaml, and what its sections demand of each other."""

import math
import re
from collections.abc import Iterable

from pydantic import model_validator

from brido.section import Section
from brido.settings.data import CheckpointSettings, DataSettings, TextSettings
from brido.settings.evaluation import EvaluationSettings, ReportSettings
from brido.settings.method import (
    DecodingSettings,
    GenerationSettings,
    PairwiseSettings,
    ScoringSettings,
    TrainingSettings,
)
from brido.settings.runtime import RuntimeSettings


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
        problems = [*self._systems(), *self._listing()]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def _systems(self) -> Iterable[str]:
        """What is wrong with the names of checkpoints and systems."""
        if "base" not in self.checkpoints:
            yield "checkpoints: `base` is missing: it is the model that is tuned"
        if {"tuned", "reference"} & set(self.checkpoints):
            yield "checkpoints: `tuned` and `reference` are made by the pipeline"
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
        unknown = [name for name in models if name not in {*self.checkpoints, "tuned"}]
        if unknown:
            yield f"systems: {unknown} are no keys of checkpoints (nor `tuned`)"

    def _listing(self) -> Iterable[str]:
        """The listing's normalisation exists for the alphas of its ranking modes alone."""
        half = self.generation.num_candidates - 1
        known = {0, 1, half, math.inf}
        if self.scoring.normalization == "listing" and self.scoring.alpha not in known:
            yield (
                f"scoring.alpha: normalization `listing` knows 0, 1, {half} (N-1) and inf, "
                f"not {self.scoring.alpha}; use normalization `equation`"
            )
