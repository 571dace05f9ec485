"""What the rows of a search have written, as keys and values of a layer."""

from __future__ import annotations

import torch

# Elements of a cache that are reordered at once on a processor: half a MiB or one.
PIECE = 1 << 17


class Past:
    """Keys and values of one layer's tokens so far, in buffers [limit, R, H, D], the newest last.

    With tokens first, new tokens and reordered rows touch the part of a buffer that is in use, and
    a processor gives memory to no other part.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.length = limit, 0
        self.buffers: list[torch.Tensor] = []

    def append(self, *states: torch.Tensor) -> list[torch.Tensor]:
        """All keys and values [R, H, t, D], after those [R, H, D] of one more token."""
        if not self.buffers:
            self.buffers = [part.new_empty(self.limit, *part.shape) for part in states]
        for buffer, part in zip(self.buffers, states, strict=True):
            buffer[self.length] = part
        self.length += 1
        return [buffer[: self.length].permute(1, 2, 0, 3) for buffer in self.buffers]

    def take(self, rows: torch.Tensor) -> None:
        """Keep `rows` (any number, in their order, repeats allowed)."""
        for place, buffer in enumerate(self.buffers):
            used = buffer[: self.length]
            if buffer.device.type == "cpu" and len(rows) == buffer.shape[1]:
                # Piece by piece in place: a second buffer would be more of the system's memory.
                for piece in used.split(max(1, PIECE // used[0].numel())):
                    piece.copy_(piece.index_select(1, rows))
            else:
                self.buffers[place] = buffer.new_empty(self.limit, len(rows), *buffer.shape[2:])
                torch.index_select(used, 1, rows, out=self.buffers[place][: self.length])


def rows_of(documents: torch.Tensor, rows_a_document: int) -> torch.Tensor:
    """The rows [B * N] of documents [B], N each."""
    offsets = torch.arange(rows_a_document, device=documents.device)
    return (documents[:, None] * rows_a_document + offsets).flatten()
