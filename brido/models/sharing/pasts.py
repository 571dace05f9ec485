"""Keys and values of what the rows of a search have written, and of the prompt that they share.

`generate` keeps a prompt's keys and values once for every beam. Here they keep their batch of B
documents (`SharedPrompt`). A step's queries of a document's N rows are folded into one product with
them, a second product takes the rows' own keys, and both are weighed by one softmax. No module of
the model is touched: its attention comes here (`attention.py`), its cache is one that returns the
rows' own keys and values alone.
"""

from dataclasses import fields
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.modeling_outputs import BaseModelOutputWithPast

# The name under which models take keys and values that were read before:
# `past_key_values` until transformers 5.23, and no more from 5.40 on.
CACHE = next(
    field.name
    for field in fields(BaseModelOutputWithPast)
    if field.name in ("cache", "past_key_values")
)
# Elements of a cache that are reordered at once: on a processor half a MiB or one, on an
# accelerator 64 or 128 MiB.
PIECE, DEVICE_PIECE = 1 << 17, 1 << 25


class Pasts(DynamicCache):
    """The tokens of at most `limit` steps, as a model of transformers fills and reads a cache.

    Keys and values of a layer are two buffers [limit, R, H, D]. With tokens first, new tokens and
    reordered rows touch the part of a buffer that is in use, and a processor gives memory to no
    other part. place: where the token of the present step stands. seen: [t], False where a layer's
    keys and values are not to be looked at; None: nowhere.
    """

    seen: Tensor | None = None

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.place: Any = -1
        self.buffers: dict[int, list[Tensor]] = {}

    def begin(self) -> None:
        """One more token of every row comes next."""
        self.place += 1

    def get_seq_length(self, layer_idx: int = 0) -> Any:
        """How many tokens stand before that of the present step: its position, for a model."""
        return self.place

    # Releases of transformers pass different things after the layer.
    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """All keys and values [R, H, t, D] of a layer, after those [R, H, 1, D] of one token."""
        states = key_states[:, :, 0], value_states[:, :, 0]
        if layer_idx not in self.buffers:
            self.buffers[layer_idx] = [part.new_empty(self.limit, *part.shape) for part in states]
        for buffer, part in zip(self.buffers[layer_idx], states, strict=True):
            buffer[self.place] = part
        used = slice(self.place + 1)
        key, value = (buffer[used].permute(1, 2, 0, 3) for buffer in self.buffers[layer_idx])
        return key, value

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Keep these rows (any number, in their order, repeats allowed)."""
        for buffers in self.buffers.values():
            for number, buffer in enumerate(buffers):
                used = slice(self.place + 1)
                if buffer.device.type == "cpu" and len(beam_idx) == buffer.shape[1]:
                    # Piece by piece in place: a second buffer would be more of the system's memory.
                    for piece in buffer[used].split(max(1, PIECE // buffer[0].numel())):
                        piece.copy_(piece.index_select(1, beam_idx))
                else:
                    buffers[number] = buffer.new_empty(self.limit, len(beam_idx), *buffer.shape[2:])
                    torch.index_select(buffer[used], 1, beam_idx, out=buffers[number][used])


class StaticPasts(Pasts):
    """The same, so that every step is the same work on the same memory and can be replayed.

    All layers' keys and values lie in one buffer [limit, layers, 2, R, H, D]. A layer always gets
    the whole of it, t = limit, and `seen` says what was written. place: [1], on the device.
    written: how many tokens were, counted by who replays (`brido.models.replay`), since a replay
    runs nothing of Python; on it depends only how much is reordered.
    """

    written = 0

    def __init__(self, limit: int, layers: int, device: torch.device) -> None:
        super().__init__(limit)
        self.shape = limit, layers, 2
        self.place = torch.full((1,), -1, device=device)
        self.places = torch.arange(limit, device=device)
        self.buffer: Tensor | None = None

    def begin(self) -> None:
        """See Pasts."""
        super().begin()
        self.seen = self.places <= self.place

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """See Pasts."""
        if self.buffer is None:
            # Zeros: what is not seen weighs nothing, but nothing times NaN is NaN.
            self.buffer = key_states.new_zeros(*self.shape, *key_states[:, :, 0].shape)
        keys, values = self.buffer[:, layer_idx].unbind(1)
        keys.index_copy_(0, self.place, key_states[None, :, :, 0])
        values.index_copy_(0, self.place, value_states[None, :, :, 0])
        return keys.permute(1, 2, 0, 3), values.permute(1, 2, 0, 3)

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """See Pasts; as many rows as before are moved in place."""
        if self.buffer is None:
            return
        if len(beam_idx) != self.buffer.shape[3]:
            self.buffer = self.buffer.index_select(3, beam_idx)
            return
        tokens = max(1, DEVICE_PIECE // self.buffer[0].numel())
        for piece in self.buffer[: self.written].split(tokens):
            piece.copy_(piece.index_select(3, beam_idx))


def rows_of(documents: Tensor, rows_a_document: int) -> Tensor:
    """The rows [B * N] of documents [B], N each."""
    offsets = torch.arange(rows_a_document, device=documents.device)
    return (documents[:, None] * rows_a_document + offsets).flatten()


class SharedPrompt(DynamicCache):
    """Keys and values of B prompts, and of at most `limit` tokens of each row behind them.

    prompts: what a forward pass over the prompts filled. mask: [B, S], True where a token is;
    prompts are padded on the left, so column S + t - 1 is the place of every row's t-th own token.
    static: steps are to be replayed (`StaticPasts`).
    """

    def __init__(
        self, prompts: DynamicCache, mask: Tensor, limit: int, static: bool = False
    ) -> None:
        super().__init__()
        layers: Any = prompts.layers
        self.prompts: list[tuple[Tensor, Tensor]] = [(one.keys, one.values) for one in layers]
        self.pads = None if bool(mask.all()) else ~mask
        self.own = StaticPasts(limit, len(layers), mask.device) if static else Pasts(limit)

    def keep(self, documents: Tensor) -> None:
        """Go on with the prompts of `documents` alone."""
        self.prompts = [
            (key.index_select(0, documents), value.index_select(0, documents))
            for key, value in self.prompts
        ]
        if self.pads is not None:
            self.pads = self.pads.index_select(0, documents)

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Row r goes on from what row `beam_idx[r]` was, behind the same prompt."""
        self.own.reorder_cache(beam_idx)

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """The rows' own keys and values [R, H, t, D] after one more token, [R, H, 1, D]."""
        return self.own.update(key_states, value_states, layer_idx)

    def get_seq_length(self, layer_idx: int = 0) -> Any:
        """The number of tokens that stand before a step's, pads included."""
        return self.prompts[0][0].shape[2] + self.own.get_seq_length()

    def attend(
        self,
        layer: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scaling: float | None = None,
        sliding_window: int | None = None,
        softcap: float | None = None,
        **_: Any,
    ) -> Tensor:
        """Attention [R, H, D] of one query a row to its prompt and its own past [R, H', t, D].

        Inside, a query is [B, N, H', G, D]: N rows a document, G queries a head of keys.
        """
        far_key, far_value = self.prompts[layer]
        hidden = self.pads
        if sliding_window is not None:
            first = max(0, far_key.shape[2] + key.shape[2] - sliding_window)
            far_key, far_value = far_key[:, :, first:], far_value[:, :, first:]
            hidden = None if hidden is None else hidden[:, first:]
            key, value = key[:, :, -sliding_window:], value[:, :, -sliding_window:]
        documents, heads, length = far_key.shape[:3]
        query, key, value = (part.unflatten(0, (documents, -1)) for part in (query, key, value))
        query = query.unflatten(2, (heads, -1))
        scores = torch.cat([_far(query, far_key.mT), query @ key.mT], dim=-1)
        # As the models do it: products in the model's precision, the softmax in float32 at least.
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        scores *= query.shape[-1] ** -0.5 if scaling is None else scaling
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        if hidden is not None:
            scores[..., :length].masked_fill_(hidden[:, None, None, None], -torch.inf)
        if self.own.seen is not None:
            scores[..., length:].masked_fill_(~self.own.seen, -torch.inf)
        weights = scores.softmax(-1).to(query.dtype)
        found = _far(weights[..., :length], far_value) + weights[..., length:] @ value
        return found.flatten(2, 3).flatten(0, 1)


def _far(rows: Tensor, shared: Tensor) -> Tensor:
    """rows [B, N, H, G, X] times shared [B, H, X, Y], one product a document and head."""
    folded = rows.transpose(1, 2).flatten(2, 3)
    return (folded @ shared).unflatten(2, rows.shape[1:4:2]).transpose(1, 2)
