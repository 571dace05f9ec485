"""G-Eval: coherence, consistency, fluency and relevance, marked by an LLM on a server.

`GEval(settings, runtime).score(documents, summaries)` is the judge as a plain object; `brido
evaluate geval FILE` does the same for a file; `METRIC` is its place in the pipeline.
"""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

if TYPE_CHECKING:
    from brido.evaluation.geval.declaration import METRIC as METRIC
    from brido.evaluation.geval.judge import EndpointRuntime as EndpointRuntime
    from brido.evaluation.geval.judge import GEval as GEval
    from brido.evaluation.geval.settings import GEvalSettings as GEvalSettings

# Loaded when asked for: the command line says what is missing, and its --help needs nothing.
_PUBLIC = {
    "METRIC": "declaration",
    "EndpointRuntime": "judge",
    "GEval": "judge",
    "GEvalSettings": "settings",
}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
