"""What a language model is: the only room that knows how one reads, steps and scores."""

from brido.utils.lazy import lazy

# Loaded when asked for: search and likelihood need no tokenizers.
_PUBLIC = {"LanguageModel": "language_model"}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC, "torch")
