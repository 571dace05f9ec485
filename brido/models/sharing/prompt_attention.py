"""Attention of the rows that go on behind a prompt: its keys and values are read once for all.

`generate` keeps the prompt's keys and values once for every beam. Here they keep their batch of B
documents. A step's queries of a document's N rows are folded into one product with them, a second
product takes the rows' own keys, and both are weighed by one softmax. No module of the model is
touched: its attention is pointed to a function that is registered with transformers, its cache is
one that returns the rows' own keys and values alone.
"""

from contextvars import ContextVar
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, DynamicCache, PreTrainedConfig, PreTrainedModel

from brido.models.cache import CACHE
from brido.models.sharing.pasts import new_pasts

SHARED_PROMPT = "brido_shared_prompt"


class SharedPrompt(DynamicCache):
    """Keys and values of B prompts, and of at most `limit` tokens of each row behind them.

    mask: [B, S], True where a token is; prompts are padded on the left, so column S + t - 1 is the
    place of every row's t-th own token. static: steps are to be replayed (`StaticPasts`).
    """

    def __init__(
        self,
        model: PreTrainedModel,
        prompts: DynamicCache,
        mask: Tensor,
        limit: int,
        static: bool = False,
    ) -> None:
        super().__init__()
        self.model = model
        layers: Any = prompts.layers
        self.prompts: list[tuple[Tensor, Tensor]] = [(one.keys, one.values) for one in layers]
        self.pads = None if bool(mask.all()) else ~mask
        self.own = new_pasts(limit, len(self.prompts), mask.device if static else None)

    @cached_property
    def configs(self) -> list[Any]:
        """Where the model's modules look their attention up, an outer configuration first.

        transformers' own way to set the attention walks through all modules at every step.
        """
        configs = (getattr(module, "config", None) for module in self.model.modules())
        own = {id(config): config for config in configs if isinstance(config, PreTrainedConfig)}
        return list(own.values())

    def step(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Logits [R, V] after one more token a row, [R] at `positions` [R]."""
        self.own.begin()
        former = [config._attn_implementation for config in self.configs]
        reading = _READING.set(self)
        for config in self.configs:
            config._attn_implementation = SHARED_PROMPT
        try:
            # The mask says nothing, but without one some models warn of pads among the tokens.
            return self.model(
                input_ids=tokens[:, None],
                attention_mask=torch.ones_like(tokens)[:, None],
                position_ids=positions[:, None],
                **{CACHE: self},
                use_cache=True,
            ).logits[:, -1]
        finally:
            # An outer configuration sets those inside it as well, so it comes first.
            for config, implementation in zip(self.configs, former, strict=True):
                config._attn_implementation = implementation
            _READING.reset(reading)

    def take(self, rows: Tensor) -> None:
        """Row r goes on from what row `rows[r]` was."""
        self.own.take(rows)

    def keep(self, documents: Tensor, rows: Tensor) -> None:
        """Go on with `documents` alone, which have `rows`."""
        self.take(rows)
        self.prompts = [
            (key.index_select(0, documents), value.index_select(0, documents))
            for key, value in self.prompts
        ]
        if self.pads is not None:
            self.pads = self.pads.index_select(0, documents)

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """The rows' own keys and values [R, H, t, D] after one more token, [R, H, 1, D]."""
        return self.own.append(layer_idx, key_states[:, :, 0], value_states[:, :, 0])

    def attend(
        self,
        layer: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scaling: float | None = None,
        sliding_window: int | None = None,
        softcap: float | None = None,
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
        if self.own.hidden is not None:
            scores[..., length:].masked_fill_(self.own.hidden, -torch.inf)
        weights = scores.softmax(-1).to(query.dtype)
        found = _far(weights[..., :length], far_value) + weights[..., length:] @ value
        return found.flatten(2, 3).flatten(0, 1)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """The number of tokens that stand before a step's, pads included."""
        return self.prompts[0][0].shape[2] + self.own.length


class RepeatedPrompt:
    """Each row with its own copy of the prompt's keys and values, in the model's own attention.

    Methods as `SharedPrompt`'s.
    """

    def __init__(self, model: PreTrainedModel, prompts: DynamicCache, mask: Tensor) -> None:
        self.cache: Any = prompts
        self.model, self.mask = model, mask

    def step(self, tokens: Tensor, positions: Tensor) -> Tensor:
        self.mask = torch.cat([self.mask, self.mask.new_ones(len(self.mask), 1)], dim=1)
        return self.model(
            input_ids=tokens[:, None],
            attention_mask=self.mask,
            position_ids=positions[:, None],
            **{CACHE: self.cache},
            use_cache=True,
        ).logits[:, -1]

    def take(self, rows: Tensor) -> None:
        self.cache.reorder_cache(rows)
        self.mask = self.mask.index_select(0, rows)

    def keep(self, documents: Tensor, rows: Tensor) -> None:
        self.take(rows)


_READING: ContextVar[SharedPrompt] = ContextVar("reading")


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attention [R, 1, H, D] as transformers asks for it, of queries [R, H, 1, D]."""
    past = _READING.get()
    found = past.attend(
        module.layer_idx, query[:, :, 0], key, value, scaling, sliding_window, softcap
    )
    return found[:, None], None


def _far(rows: Tensor, shared: Tensor) -> Tensor:
    """rows [B, N, H, G, X] times shared [B, H, X, Y], one product a document and head."""
    folded = rows.transpose(1, 2).flatten(2, 3)
    return (folded @ shared).unflatten(2, rows.shape[1:4:2]).transpose(1, 2)


AttentionInterface.register(SHARED_PROMPT, _attend)
