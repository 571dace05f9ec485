"""QAFactEval for current PyTorch and transformers: are a summary's answers those of its source?

>>> metric = QAFactEval.load()                       # doctest: +SKIP
>>> rows = metric.score(documents, summaries)        # doctest: +SKIP

`brido evaluate qafacteval FILE` does the same for a file. What each number means, its range and
its traps: docs/metrics.md.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import Field

from brido.evaluation import Column, Evaluation, Inputs, Metric, Support, points, share
from brido.evaluation.qafacteval.answers import Strategy
from brido.utils.lazy import lazy
from brido.utils.progress import MakeProgress
from brido.utils.sections import Name, Section
from brido.work.settings import RuntimeSettings

if TYPE_CHECKING:
    from brido.evaluation.qafacteval.metric import QAFactEval as QAFactEval

__all__ = ["METRIC", "QAFactEval", "QAFactEvalSettings"]
_PUBLIC = {"QAFactEval": "metric"}
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
# The tables show these as the paper prints them.
_TIMES_100 = frozenset({"f1", "em", "is_answered"})


class QAFactEvalSettings(Section):
    """`evaluation.qafacteval`: the neural QAFactEval, everything that can change a number."""

    models: Name = Field(
        "hub",
        description=(
            "hub (the published archives) | a folder with the archives or converted models."
        ),
    )
    spacy_model: Name = Field(
        "en_core_web_sm", description="Name of an installed spaCy package, or a folder."
    )
    answers: Strategy = Field("noun_chunks", description="noun_chunks (the released code) | ner.")


def evaluate(
    inputs: Inputs, settings: QAFactEvalSettings, progress: MakeProgress, runtime: RuntimeSettings
) -> Evaluation:
    """The metric of one system for the evaluate stage; f1, em and is_answered from 0 to 100.

    Answers are kept beside the work folders, where every system and every later run finds them.
    """
    metric = _load(settings, runtime.device, runtime.batch_tokens)
    found = metric.score(inputs.documents, inputs.summaries, progress)
    counts = {
        "n_questions": sum(row["n_questions"] for row in found),
        "n_without_questions": sum(row["without_questions"] for row in found),
    }
    rows: list[dict[str, float | None]] = [
        {name: float(row[name]) * (100 if name in _TIMES_100 else 1) for name in METRIC.names}
        for row in found
    ]
    return Evaluation(rows, [row["questions"] for row in found], metric.signature(), counts)


@lru_cache(maxsize=1)
def _load(settings: QAFactEvalSettings, device: str, batch_tokens: int) -> Any:
    """The models, loaded once for all parts of a system."""
    from brido.evaluation.qafacteval.metric import QAFactEval
    from brido.work.folder import answers_file

    how = settings.model_dump() | {"device": device, "batch_tokens": batch_tokens}
    return QAFactEval.load(**how, store=answers_file("qafacteval"))


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
    computed_on="device",
    support=Support("lerc", step=0.25),
)
