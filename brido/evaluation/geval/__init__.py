"""G-Eval: coherence, consistency, fluency and relevance, marked by a language model.

`GEval(settings, runtime).score(documents, summaries)` is the judge as a plain object;
`python -m brido.evaluation.geval` the same for files; `METRIC` is its place in the pipeline.
"""

from typing import TYPE_CHECKING

from brido.evaluation import Column, Evaluation, Inputs, Metric
from brido.evaluation.geval.settings import GEvalSettings
from brido.lazy import lazy
from brido.progress import MakeProgress

if TYPE_CHECKING:
    from brido.evaluation.geval.judge import DryRun, GEval
    from brido.settings import RuntimeSettings

__all__ = ["METRIC", "DryRun", "GEval", "GEvalSettings"]


# Settings are read without its libraries.
__getattr__ = lazy(__name__, {"DryRun": "judge", "GEval": "judge"})


def evaluate(
    inputs: Inputs, settings: GEvalSettings, progress: MakeProgress, runtime: "RuntimeSettings"
) -> Evaluation:
    """The judge's marks of one system's summaries, a row per document.

    Answers are kept in `runtime.endpoint.store`, for every later run.
    """
    from brido.evaluation.geval.judge import GEval

    judge = GEval(settings, runtime.endpoint, runtime.device)
    return judge.score(inputs.documents, inputs.summaries, inputs.ids, progress)


METRIC = Metric(
    name="geval",
    label="G-Eval",
    columns=(
        Column("coherence"),
        Column("consistency", headline=True),
        Column("fluency"),
        Column("relevance"),
        Column("average", headline=True),
        Column("average_normalised", "average (0 to 1)"),
        Column("valid_answers", better="neither", digits=1),
    ),
    evaluate=evaluate,
    settings=GEvalSettings,
    needs_runtime=True,
    whole=True,
)
