"""G-Eval: coherence, consistency, fluency and relevance, marked by a language model.

`GEval(settings, runtime).score(documents, summaries)` is the judge as a plain object;
`python -m brido.evaluation.geval` the same for files; `evaluate` is its place in the pipeline.
"""

from collections.abc import Callable
from pathlib import Path

from brido.evaluation import Evaluation, Inputs
from brido.evaluation.geval.judge import DryRun, GEval
from brido.progress import Progress
from brido.settings import GEvalSettings, RuntimeSettings

__all__ = ["DryRun", "GEval", "evaluate"]


def evaluate(
    inputs: Inputs,
    settings: GEvalSettings,
    work: Path,
    progress: Callable[..., Progress],
    runtime: RuntimeSettings | None = None,
) -> Evaluation:
    """The judge's marks of one system's summaries, a row per document.

    `work` is left alone: answers are kept in `runtime.endpoint.store`, for every later run.
    """
    runtime = runtime or RuntimeSettings()
    judge = GEval(settings, runtime.endpoint, runtime.device)
    return judge.score(inputs.documents, inputs.summaries, inputs.ids, progress)
