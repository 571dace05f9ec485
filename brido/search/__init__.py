"""Token by token over logits: beam search, diverse beam search, greedy search, sampling."""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

if TYPE_CHECKING:
    from brido.search.result import SearchResult as SearchResult
    from brido.search.sampling import document_uniforms as document_uniforms
    from brido.search.sampling import sample as sample
    from brido.search.search import beam_search as beam_search
    from brido.search.search import diverse_beam_search as diverse_beam_search
    from brido.search.settings import SamplingSettings as SamplingSettings
    from brido.search.settings import SearchSettings as SearchSettings

# Loaded when asked for: settings are read without PyTorch.
_PUBLIC = {
    "SearchSettings": "settings",
    "SamplingSettings": "settings",
    "SearchResult": "result",
    "beam_search": "search",
    "diverse_beam_search": "search",
    "document_uniforms": "sampling",
    "sample": "sampling",
}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
