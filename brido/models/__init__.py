"""What a language model is: the only room that knows how one reads, steps and scores."""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

if TYPE_CHECKING:
    from brido.models.language_model import LanguageModel as LanguageModel

# Loaded when asked for: search and likelihood need no tokenizers.
_PUBLIC = {"LanguageModel": "language_model"}
__all__ = list(_PUBLIC)
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
