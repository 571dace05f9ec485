"""The declaration of the metric `geval`."""

from brido.evaluation import Column, Evaluation, Inputs, Metric, Support
from brido.evaluation.geval.settings import GEvalSettings
from brido.utils.progress import MakeProgress
from brido.work.settings import RuntimeSettings


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
