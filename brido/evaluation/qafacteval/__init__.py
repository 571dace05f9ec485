"""QAFactEval for current PyTorch and transformers: are a summary's answers those of its source?

>>> metric = QAFactEval.load()                       # doctest: +SKIP
>>> rows = metric.score(documents, summaries)        # doctest: +SKIP

`brido evaluate qafacteval FILE` does the same for a file. What each number means, its range and
its traps: docs/metrics.md.
"""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

if TYPE_CHECKING:
    from brido.evaluation.qafacteval.declaration import METRIC as METRIC
    from brido.evaluation.qafacteval.declaration import QAFactEvalSettings as QAFactEvalSettings
    from brido.evaluation.qafacteval.metric import QAFactEval as QAFactEval

# Loaded when asked for: the command line says what is missing, and its --help needs nothing.
_PUBLIC = {"METRIC": "declaration", "QAFactEval": "metric", "QAFactEvalSettings": "declaration"}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
