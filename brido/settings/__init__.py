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
    EmbeddedLlama,
    EmbeddedModel,
    EmbeddedSettings,
    FineTuningSettings,
    LoraSettings,
    ReadingSettings,
    StoredCheckpoint,
    WorldShare,
)
from brido.section import Section
from brido.settings.evaluation import (
    EvaluationSettings,
    ReportSettings,
)
from brido.settings.generation import (
    CandidateFiles,
    DiverseBeamGeneration,
    EndpointGeneration,
    FilesGeneration,
    SamplingGeneration,
    SourceSettings,
)
from brido.settings.method import (
    DecodingSettings,
    DocumentsSettings,
    PairwiseSettings,
    PoolSettings,
    ScoringSettings,
    TextSettings,
    TrainingSettings,
    ValidationSettings,
)
from brido.settings.params import (
    Params,
)
from brido.settings.runtime import RuntimeSettings
from brido.support.settings import MentionsSupport, MiniCheckSupport, SupportSettings

__all__ = [
    "CandidateFiles",
    "CheckpointSettings",
    "DataSettings",
    "DecodingSettings",
    "DiverseBeamGeneration",
    "DocumentsSettings",
    "EmbeddedCheckpoint",
    "EmbeddedLlama",
    "EmbeddedModel",
    "EmbeddedSettings",
    "EndpointGeneration",
    "EndpointRuntime",
    "EvaluationSettings",
    "FilesData",
    "FilesGeneration",
    "FilesSettings",
    "FineTuningSettings",
    "HubData",
    "HubSettings",
    "LoraSettings",
    "MentionsSupport",
    "MiniCheckSupport",
    "PairwiseSettings",
    "Params",
    "PoolSettings",
    "ReadingSettings",
    "ReportSettings",
    "RowCounts",
    "RuntimeSettings",
    "SamplingGeneration",
    "ScoringSettings",
    "Section",
    "SourceSettings",
    "StoredCheckpoint",
    "SupportSettings",
    "TextSettings",
    "TrainingSettings",
    "ValidationSettings",
    "WorldData",
    "WorldSettings",
    "WorldShare",
]
