"""Attention of the rows that go on behind a prompt: its keys and values are read once for all.

`generate` keeps the prompt's keys and values once for every beam. Here they keep their batch of B
documents. A step's queries of a document's N rows are folded into one product with them, a second
product takes the rows' own keys, and both are weighed by one softmax. No module of the model is
touched: its attention comes here (`attention.py`), its cache is one that returns the rows' own keys
and values alone.
"""

from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from brido.models.sharing.pasts import Pasts, StaticPasts


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
