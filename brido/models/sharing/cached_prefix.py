"""Texts that share their prompt over several passes: the prompt is read once for all of them.

As in `shared_prefix`, the texts of a document stand in one row. In front of them stands the
prompt's last token alone; the keys and values of the tokens before it are kept from pass to pass.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from brido.models.causal_steps import left_padded
from brido.models.sharing.shared_prefix import PackedStates, Rows, masks, pack, visible
from brido.models.tokens import Sources


class CachedStates(PackedStates):
    """`PackedStates` without gradients that read a prompt once, however many passes there are."""

    def __init__(self, model: PreTrainedModel, sources: Sources) -> None:
        super().__init__(model, sources)
        ids, mask = left_padded(sources)
        last = Sources(ids[:, -1:], mask[:, -1:])
        self.sources, self.lengths = last, mask.sum(1)
        self.mask = mask[:, :-1].bool()
        self.places = (mask[:, :-1].cumsum(1) - 1).clamp(min=0)
        # Told nothing of the model, a cache keeps whole prompts, windows or not.
        cache = DynamicCache()
        model.get_decoder()(
            input_ids=ids[:, :-1],
            attention_mask=mask[:, :-1],
            position_ids=self.places,
            past_key_values=cache,
            use_cache=True,
        )
        self.prompts = _Prompts(cache)

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        """See States."""
        rows = pack(self.sources, ids, scored)
        positions = rows.positions + (self.lengths - 1)[:, None]
        states = self.model.get_decoder()(
            input_ids=rows.ids,
            attention_mask=masks(self.model, lambda window: self._visible(rows, positions, window)),
            position_ids=positions,
            past_key_values=self.prompts,
            use_cache=True,
        )[0]
        return self.projected(states.flatten(0, 1)[rows.found])

    def _visible(self, rows: Rows, positions: Tensor, window: int | None) -> Tensor:
        """Which tokens of the prompt, then of the row, each token of the row sees."""
        prompt = self.mask[:, None, :].expand(-1, positions.shape[1], -1)
        if window is not None:
            prompt = prompt & (positions[:, :, None] - self.places[:, None, :] < window)
        return torch.cat([prompt[:, None], visible(rows, window)], -1)


class _Prompts(DynamicCache):
    """Keys and values of the prompts, before those of a pass, which are not kept."""

    def __init__(self, prompts: DynamicCache) -> None:
        super().__init__()
        layers: Any = prompts.layers
        self.prompts = [(layer.keys, layer.values) for layer in layers]

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """All keys and values [B, H, S + W, D] of a pass that has its own, [B, H, W, D]."""
        key, value = self.prompts[layer_idx]
        return torch.cat([key, key_states], 2), torch.cat([value, value_states], 2)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """The number of tokens that stand before a pass's, pads included."""
        return self.prompts[layer_idx][0].shape[2]
