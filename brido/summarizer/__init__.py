"""Summaries of new documents by a tuned model, in its own reading and decoding."""

from brido.utils.lazy import lazy

_PUBLIC = {
    "Summarizer": "summarizer",
    "Summary": "summary",
}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC, "pipeline")
