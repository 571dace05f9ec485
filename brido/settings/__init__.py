"""The sections of params.yaml as typed models: one class a section, an unknown key is an error.

Every model is frozen and strict (no text where a number belongs). What params.yaml says in comments
is not repeated here; what only code needs to know (ranges, relations between keys) stands here.
"""

from brido.section import (
    Section,
)
from brido.settings.data import (
    CheckpointSettings,
    DataSettings,
    EmbeddedCheckpoint,
    EmbeddedSettings,
    FilesData,
    FilesSettings,
    HubData,
    HubSettings,
    ReadingSettings,
    RowCounts,
    StoredCheckpoint,
    TextSettings,
    WorldData,
    WorldSettings,
)
from brido.settings.evaluation import (
    EvaluationSettings,
    ReportSettings,
)
from brido.settings.method import (
    CandidateFiles,
    DecodingSettings,
    DiverseBeamGeneration,
    FilesGeneration,
    GenerationSettings,
    PairwiseSettings,
    SamplingGeneration,
    ScoringSettings,
    TrainingSettings,
    ValidationSettings,
)
from brido.settings.params import (
    Params,
)
from brido.settings.runtime import (
    EndpointRuntime,
    RuntimeSettings,
)

__all__ = [
    "CandidateFiles",
    "CheckpointSettings",
    "DataSettings",
    "DecodingSettings",
    "DiverseBeamGeneration",
    "EmbeddedCheckpoint",
    "EmbeddedSettings",
    "EndpointRuntime",
    "EvaluationSettings",
    "FilesData",
    "FilesGeneration",
    "FilesSettings",
    "GenerationSettings",
    "HubData",
    "HubSettings",
    "PairwiseSettings",
    "Params",
    "ReadingSettings",
    "ReportSettings",
    "RowCounts",
    "RuntimeSettings",
    "SamplingGeneration",
    "ScoringSettings",
    "Section",
    "StoredCheckpoint",
    "TextSettings",
    "TrainingSettings",
    "ValidationSettings",
    "WorldData",
    "WorldSettings",
]
