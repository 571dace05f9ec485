"""Token by token over logits: beam search, diverse beam search, greedy search, sampling."""

from importlib import import_module
from typing import Any

# Loaded when asked for: settings are read without PyTorch.
_PUBLIC = {
    "SearchSettings": "settings",
    "SamplingSettings": "settings",
    "SearchResult": "search",
    "beam_search": "search",
    "diverse_beam_search": "search",
    "sample": "sampling",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
