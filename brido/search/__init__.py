"""Token by token over logits: beam search, diverse beam search, greedy search, sampling."""

from brido.utils.lazy import lazy

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
__getattr__, __dir__ = lazy(__name__, _PUBLIC, "torch")
