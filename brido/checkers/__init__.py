"""Does the source support a text? And what does a check of that see?"""

from typing import TYPE_CHECKING

from brido.utils.lazy import lazy

if TYPE_CHECKING:
    from brido.checkers.seeing import Sensitivity, sensitivity

__all__ = ["Sensitivity", "sensitivity"]
_PUBLIC = dict.fromkeys(__all__, "seeing")
__getattr__, __dir__ = lazy(__name__, _PUBLIC)
