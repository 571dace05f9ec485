"""Summaries of new documents by a tuned model, in its own reading and decoding."""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

if TYPE_CHECKING:
    from brido.summarizer.summarizer import Summarizer as Summarizer
    from brido.summarizer.summary import Summary as Summary

_PUBLIC = {
    "Summarizer": "summarizer",
    "Summary": "summary",
}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
