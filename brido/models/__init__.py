"""What a language model is: the only room that knows how one reads, steps and scores."""

from typing import Any

__all__ = ["LanguageModel"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: search and likelihood need no tokenizers.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from brido.models.language_model import LanguageModel

    return LanguageModel
