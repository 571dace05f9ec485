"""G-Eval: coherence, consistency, fluency and relevance, marked by an LLM on a server.

`GEval(settings, runtime).score(documents, summaries)` is the judge as a plain object; `brido geval`
does the same for files; `METRIC` is its place in the pipeline.
"""

from brido.utils.lazy import lazy

# Loaded when asked for: the command line says what is missing, and its --help needs nothing.
_PUBLIC = {
    "METRIC": "declaration",
    "EndpointRuntime": "judge",
    "GEval": "judge",
    "GEvalSettings": "settings",
}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC, "judge")
