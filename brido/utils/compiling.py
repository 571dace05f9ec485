"""Compiled functions whose machine code is kept on disk.

numba keeps it beside the source, or in the user's own folder of caches where an installation is
read-only; NUMBA_CACHE_DIR names another place. Files appear whole, so processes may share them, and
one that is killed while it compiles loses the function that it was at.
"""

from collections.abc import Callable
from typing import Any

from numba import njit


def cached(**options: Any) -> Callable[[Callable], Any]:
    """`numba.njit` with a cache, or without one where no folder can be written."""

    def compile_later(function: Callable) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)

    return compile_later
