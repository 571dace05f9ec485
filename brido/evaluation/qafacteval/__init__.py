"""QAFactEval for current PyTorch and transformers: are a summary's answers those of its source?

>>> metric = QAFactEval.load()                       # doctest: +SKIP
>>> rows = metric.score(documents, summaries)        # doctest: +SKIP

`python -m brido.evaluation.qafacteval documents.jsonl` does the same for a file. What each number
means, its range and its traps: docs/metrics.md.
"""

from typing import TYPE_CHECKING, Any

from brido.evaluation import SUBMETRICS, Evaluation, Inputs
from brido.evaluation.qafacteval.metric import QAFactEval

if TYPE_CHECKING:
    from pathlib import Path

    from brido.evaluation.qafacteval.metric import ProgressFactory
    from brido.settings import QAFactEvalSettings, RuntimeSettings

__all__ = ["QAFactEval", "evaluate"]

# The tables show these as the paper prints them.
_TIMES_100 = frozenset({"f1", "em", "is_answered"})


def evaluate(
    inputs: Inputs,
    settings: "QAFactEvalSettings",
    work: "Path",
    progress: "ProgressFactory",
    runtime: "RuntimeSettings",
) -> Evaluation:
    """The metric of one system for the evaluate stage; f1, em and is_answered from 0 to 100.

    Answers are kept beside the work folders, where every system and every later run finds them.
    """
    from brido.work.shards import work_root

    metric = QAFactEval.load(
        settings.models,
        settings.spacy_model,
        settings.answers,
        settings.scorer,
        settings.faithful,
        runtime.device,
        runtime.batch_tokens,
        work_root() / "answers" / "qafacteval.sqlite",
    )
    found = metric.score(inputs.documents, inputs.summaries, progress)
    metric.store.close()
    details = [row["questions"] for row in found]
    return Evaluation([_numbers(row) for row in found], details, metric.signature(found))


def _numbers(row: dict[str, Any]) -> dict[str, float | None]:
    return {
        name: float(row[name]) * (100 if name in _TIMES_100 else 1)
        for name in SUBMETRICS["qafacteval"]
    }
