"""G-Eval: coherence, consistency, fluency and relevance, marked by an LLM on a server.

`GEval(settings, runtime).score(documents, summaries)` is the judge as a plain object; `brido
evaluate geval FILE` does the same for a file; `METRIC` is its place in the pipeline.
"""

from typing import TYPE_CHECKING

from brido.endpoint.settings import EndpointRuntime
from brido.evaluation import Column, Evaluation, Inputs, Metric, Support
from brido.evaluation.geval.settings import GEvalSettings
from brido.utils.lazy import lazy
from brido.utils.progress import MakeProgress
from brido.work.settings import RuntimeSettings

if TYPE_CHECKING:
    from brido.evaluation.geval.judge import GEval as GEval

__all__ = ["METRIC", "EndpointRuntime", "GEval", "GEvalSettings"]
_PUBLIC = {"GEval": "judge"}
__getattr__, __dir__ = lazy(__name__, _PUBLIC)


def evaluate(
    inputs: Inputs, settings: GEvalSettings, progress: MakeProgress, runtime: RuntimeSettings
) -> Evaluation:
    """The judge's marks of one system's summaries, a row per document.

    Answers are kept in `runtime.endpoint.store`, for every later run.
    """
    from brido.evaluation.geval.judge import GEval

    judge = GEval(settings, runtime.endpoint)
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
    computed_on="server",
    support=Support("consistency", step=0.5),
)
