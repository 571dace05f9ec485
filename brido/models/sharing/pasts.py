"""Keys and values of the tokens that the rows of a search have written so far."""

import torch
from torch import Tensor

# Elements of a cache that are reordered at once: on a processor half a MiB or one, on an
# accelerator 64 or 128 MiB.
PIECE, DEVICE_PIECE = 1 << 17, 1 << 25


class Past:
    """Keys and values of one layer's tokens so far, in buffers [limit, R, H, D], the newest last.

    With tokens first, new tokens and reordered rows touch the part of a buffer that is in use, and
    a processor gives memory to no other part.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.length = limit, 0
        self.buffers: list[Tensor] = []

    def append(self, *states: Tensor) -> list[Tensor]:
        """All keys and values [R, H, t, D], after those [R, H, D] of one more token."""
        if not self.buffers:
            self.buffers = [part.new_empty(self.limit, *part.shape) for part in states]
        for buffer, part in zip(self.buffers, states, strict=True):
            buffer[self.length] = part
        self.length += 1
        return [buffer[: self.length].permute(1, 2, 0, 3) for buffer in self.buffers]

    def take(self, rows: Tensor) -> None:
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


class Pasts:
    """The `Past` of every layer.

    hidden: [t], True where a layer's keys and values are not to be looked at; None: nowhere.
    """

    hidden: Tensor | None = None

    def __init__(self, limit: int, layers: int) -> None:
        self.layers = [Past(limit) for _ in range(layers)]

    @property
    def length(self) -> int:
        """How many tokens every row has written."""
        return self.layers[0].length

    def begin(self) -> int | Tensor:
        """The place of the token whose keys and values come next: an index of a table's rows."""
        return self.length

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values [R, H, t, D] of a layer, after those [R, H, D] of one more token."""
        key, value = self.layers[layer].append(key, value)
        return key, value

    def take(self, rows: Tensor) -> None:
        """Keep `rows` (any number, in their order, repeats allowed)."""
        for past in self.layers:
            if past.length:
                past.take(rows)


class StaticPasts(Pasts):
    """The same, so that every step is the same work on the same memory and can be replayed.

    All layers' keys and values lie in one buffer [limit, layers, 2, R, H, D]. A layer always gets
    the whole of it, t = limit, and `hidden` says what was not written yet. The place of the next
    token lies on the device. length: counted by who replays (`brido.models.replay`), since a replay
    runs nothing of Python; on it depends only how much is reordered.
    """

    length = 0

    def __init__(self, limit: int, layers: int, device: torch.device) -> None:
        self.shape = limit, layers, 2
        self.place = torch.full((1,), -1, device=device)
        self.places = torch.arange(limit, device=device)
        self.buffer: Tensor | None = None

    def begin(self) -> Tensor:
        """See Pasts: [1]."""
        self.place += 1
        self.hidden = self.places > self.place
        return self.place

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """See Pasts."""
        if self.buffer is None:
            # Zeros: what is hidden weighs nothing, but nothing times NaN is NaN.
            self.buffer = key.new_zeros(*self.shape, *key.shape)
        keys, values = self.buffer[:, layer].unbind(1)
        keys.index_copy_(0, self.place, key[None])
        values.index_copy_(0, self.place, value[None])
        return keys.permute(1, 2, 0, 3), values.permute(1, 2, 0, 3)

    def take(self, rows: Tensor) -> None:
        """See Pasts; as many rows as before are moved in place."""
        if self.buffer is None:
            return
        if len(rows) != self.buffer.shape[3]:
            self.buffer = self.buffer.index_select(3, rows)
            return
        tokens = max(1, DEVICE_PIECE // self.buffer[0].numel())
        for piece in self.buffer[: self.length].split(tokens):
            piece.copy_(piece.index_select(3, rows))


def new_pasts(limit: int, layers: int, static_on: torch.device | None) -> Pasts:
    """`StaticPasts` on a device, or `Pasts`."""
    return Pasts(limit, layers) if static_on is None else StaticPasts(limit, layers, static_on)


def rows_of(documents: Tensor, rows_a_document: int) -> Tensor:
    """The rows [B * N] of documents [B], N each."""
    offsets = torch.arange(rows_a_document, device=documents.device)
    return (documents[:, None] * rows_a_document + offsets).flatten()
