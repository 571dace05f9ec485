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
    EmbeddedSettings,
    FilesSettings,
    HubSettings,
    RowCounts,
    TextSettings,
    WorldSettings,
)
from brido.settings.evaluation import (
    EvaluationSettings,
    ExtractivenessSettings,
    GEvalSettings,
    MentionsSettings,
    QAFactEvalSettings,
    ReportSettings,
    RougeMetricSettings,
    WorldJudgeSettings,
    WorldQASettings,
)
from brido.settings.method import (
    CandidateFiles,
    DecodingSettings,
    GenerationSettings,
    PairwiseSettings,
    ScoringSettings,
    TrainingSettings,
    ValidationSettings,
)
from brido.settings.params import (
    Params,
)
from brido.settings.runtime import (
    JudgeRuntime,
    RuntimeSettings,
)

__all__ = [
    "CandidateFiles",
    "CheckpointSettings",
    "DataSettings",
    "DecodingSettings",
    "EmbeddedSettings",
    "EvaluationSettings",
    "ExtractivenessSettings",
    "FilesSettings",
    "GEvalSettings",
    "GenerationSettings",
    "HubSettings",
    "JudgeRuntime",
    "MentionsSettings",
    "PairwiseSettings",
    "Params",
    "QAFactEvalSettings",
    "ReportSettings",
    "RougeMetricSettings",
    "RowCounts",
    "RuntimeSettings",
    "ScoringSettings",
    "Section",
    "TextSettings",
    "TrainingSettings",
    "ValidationSettings",
    "WorldJudgeSettings",
    "WorldQASettings",
    "WorldSettings",
]
