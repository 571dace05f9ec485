"""QAFactEval for current PyTorch and transformers: are a summary's answers those of its source?

>>> metric = QAFactEval.load()                       # doctest: +SKIP
>>> rows = metric.score(documents, summaries)        # doctest: +SKIP

`python -m brido.evaluation.qafacteval documents.jsonl` does the same for a file. What each number
means, its range and its traps: docs/metrics.md.
"""

from typing import TYPE_CHECKING, Any, Literal

from brido.evaluation import Column, Evaluation, Inputs, Metric, points, share
from brido.progress import MakeProgress
from brido.section import Section

if TYPE_CHECKING:
    from brido.evaluation.qafacteval.metric import QAFactEval
    from brido.settings import RuntimeSettings

__all__ = ["METRIC", "QAFactEval", "QAFactEvalSettings"]

# The tables show these as the paper prints them.
_TIMES_100 = frozenset({"f1", "em", "is_answered"})


class QAFactEvalSettings(Section):
    """`evaluation.qafacteval`: the neural QAFactEval, everything that can change a number."""

    models: str = "hub"
    spacy_model: str = "en_core_web_sm"
    answers: Literal["noun_chunks", "ner", "max_np", "all"] = "noun_chunks"
    scorer: Literal["lerc_quip", "lerc"] = "lerc_quip"
    faithful: bool = True


def __getattr__(name: str) -> Any:
    """`QAFactEval`, loaded when it is asked for: settings are read without its libraries."""
    if name != "QAFactEval":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from brido.evaluation.qafacteval.metric import QAFactEval

    return QAFactEval


def evaluate(
    inputs: Inputs,
    settings: QAFactEvalSettings,
    progress: MakeProgress,
    runtime: "RuntimeSettings",
) -> Evaluation:
    """The metric of one system for the evaluate stage; f1, em and is_answered from 0 to 100.

    Answers are kept beside the work folders, where every system and every later run finds them.
    """
    from brido.evaluation.qafacteval.metric import QAFactEval
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
    return {name: float(row[name]) * (100 if name in _TIMES_100 else 1) for name in METRIC.names}


METRIC = Metric(
    name="qafacteval",
    label="QAFactEval",
    columns=(
        Column("lerc", "LERC", digits=3, headline=True),
        points("f1", "QA F1", headline=True),
        points("em", "QA EM"),
        points("is_answered", "answered", unit="%"),
        Column("n_questions", "questions", better="neither"),
        share("without_questions", better="neither"),
    ),
    evaluate=evaluate,
    settings=QAFactEvalSettings,
    needs_runtime=True,
)
