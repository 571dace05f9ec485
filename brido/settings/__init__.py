"""The sections of params.yaml as typed models: one class a section, an unknown key is an error.

Every model is frozen and strict (no text where a number belongs). What params.yaml says in comments
is not repeated; what only code needs to know (ranges, relations between keys) stands with the
class. Rooms that this one is made of keep their sections next to their use.
"""

from brido.corpus.settings import (
    DataSettings,
    FilesData,
    FilesSettings,
    HubData,
    HubSettings,
    RowCounts,
    WorldData,
    WorldSettings,
)
from brido.endpoint.settings import EndpointRuntime
from brido.models.settings import (
    CheckpointSettings,
    EmbeddedCheckpoint,
    EmbeddedSettings,
    ReadingSettings,
    StoredCheckpoint,
)
from brido.section import Section
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
    TextSettings,
    TrainingSettings,
    ValidationSettings,
)
from brido.settings.params import (
    Params,
)
from brido.settings.runtime import RuntimeSettings

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
