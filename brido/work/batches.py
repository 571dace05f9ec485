"""Batches of documents of similar length, cut by a token budget, halved when memory runs out."""

import gc
from collections.abc import Callable, Sequence

from brido.utils.device import is_out_of_memory
from brido.utils.errors import BridoError


def plan_batches(lengths: Sequence[int], budget: int, rows_a_document: int = 1) -> list[list[int]]:
    """Return the numbers of the documents of each batch, longest first, every document once.

    A batch holds at most `budget` padded source tokens times rows a document (beams), but at least
    one document. Sorted by length there is little padding, and the batch that needs most memory
    comes first.
    """
    order = sorted(range(len(lengths)), key=lambda number: (-lengths[number], number))
    batches: list[list[int]] = []
    for number in order:
        longest = lengths[batches[-1][0]] if batches else 0
        if batches and (len(batches[-1]) + 1) * longest * rows_a_document <= budget:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches


class MemoryBudget:
    """The token budget of batches: it halves for good each time memory runs out."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.halved = 0

    def run(self, numbers: list[int], work: Callable[[list[int]], None]) -> None:
        """Do `work` on a batch; if memory runs out, on its halves, one after the other.

        Raises:
            BridoError: a single document does not fit.
        """
        import torch

        try:
            work(numbers)
            return
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            reason = str(error)
        # Outside of `except`, so that the failed attempt's tensors are free.
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if len(numbers) == 1:
            raise BridoError(
                "memory is too small for a single document: lower num_beams or max_source_tokens, "
                f"or use a machine with more memory ({reason})"
            )
        self.halved += 1
        self.tokens = max(1, self.tokens // 2)
        middle = (len(numbers) + 1) // 2
        self.run(numbers[:middle], work)
        self.run(numbers[middle:], work)
