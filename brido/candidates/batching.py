"""Documents to batches: sorted by length, cut by a token budget, halved when memory runs out."""

from __future__ import annotations

import gc
from collections.abc import Callable

import torch

from brido.utils.errors import BridoError


class MemoryBudget:
    """The token budget of batches: it halves for good each time memory runs out."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.halved = 0

    def run(self, numbers: list[int], work: Callable[[list[int]], None]) -> None:
        """Do `work` on a batch; where memory runs out, on its halves, one after the other.

        Raises:
            BridoError: a single document does not fit.
        """
        try:
            work(numbers)
            return
        except (torch.OutOfMemoryError, MemoryError) as error:
            failure: BaseException = error
        except RuntimeError as error:
            # The allocator for main memory has no exception of its own.
            if "can't allocate memory" not in str(error):
                raise
            failure = error
        # Outside of `except`, so that the failed attempt's tensors are free.
        failure.__traceback__ = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if len(numbers) == 1:
            raise BridoError(
                "memory is too small for a single document: lower num_beams or max_source_tokens, "
                f"or use a machine with more memory ({failure})"
            )
        self.halved += 1
        self.tokens = max(1, self.tokens // 2)
        middle = (len(numbers) + 1) // 2
        self.run(numbers[:middle], work)
        self.run(numbers[middle:], work)
