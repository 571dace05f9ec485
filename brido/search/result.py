"""What a search or sampling returns."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

# Called at every step of a search or sampling with the number of tokens that it wrote, of all rows.
OnStep = Callable[[int], None]


@dataclass(frozen=True)
class SearchResult:
    """sequences [B, N, T] int64 as `generate` pads them; scores [B, N] float32.

    Sequences of a search stand best first, with an encoder-decoder's start token, without a
    decoder-only model's prompt. A score is the sum of log-probabilities (diversity penalty
    included) over the number of new tokens to the power length_penalty. groups [B, N] int64, of a
    search with several groups of beams: which of them wrote a sequence, counted from 0.

    Example:
        >>> found = SearchResult(torch.tensor([[[2, 5, 6], [2, 7, 1]]]), torch.tensor([[-1.0, -2]]))
        >>> found.sequences[0, 0].tolist()  # the best one of the first document
        [2, 5, 6]
    """

    sequences: torch.Tensor
    scores: torch.Tensor
    groups: torch.Tensor | None = None
