"""Models writing: what was read, then one step a token for all rows, by the model's own decoder.

`SharedSteps` and `PlainSteps` are an encoder-decoder's, behind a source that is encoded once;
`PromptSteps` are a decoder-only model's, behind a prompt. Where a family can share, all rows of a
document have one set of the source's or prompt's keys and values (`sharing/`); else each has a
copy. Shared steps can be recorded and replayed on a GPU (`replay.py`), from `pasts`.
"""

from abc import abstractmethod
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache, PreTrainedModel

from brido.models.interface import Steps
from brido.models.sharing.attention import EncoderStates, behind, masks, no_mask, source_mask
from brido.models.sharing.pasts import CACHE, Pasts, SharedPrompt, StaticPasts, rows_of
from brido.models.tokens import Sources, left_padded

# The tokens that stand before what is written (see Steps).
Given = tuple[int, ...]


class DecoderSteps(Steps):
    """First tokens one by one, then every document gets its rows."""

    def start(self, tokens: Tensor, rows_a_document: int) -> Tensor:
        for token in tokens.unbind(1):
            logits = self.step(token)
        documents = torch.arange(len(tokens), device=tokens.device)
        self._spread(documents.repeat_interleave(rows_a_document))
        return logits

    @abstractmethod
    def _spread(self, rows: Tensor) -> None:
        """Give documents more rows: row r goes on from what document `rows[r]` was."""


class SharedSteps(DecoderSteps):
    """A document's rows share the source's keys and values, which the first step projects.

    states: [B, S, D] of the encoder, mask [B, S]. limit: the most tokens of a row. static: steps
    are to be replayed.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        states: Tensor,
        mask: Tensor,
        given: Given,
        limit: int,
        static: bool = False,
    ) -> None:
        self.model, self.states, self.given = model, states, given
        self.mask = None if bool(mask.all()) else source_mask(mask)
        self.visible = no_mask(states.device)
        layers = len(model.get_decoder().layers)
        self.pasts = StaticPasts(limit, layers, states.device) if static else Pasts(limit)
        self.cache: Any = EncoderDecoderCache(self.pasts, DynamicCache())
        # Nearly always zero, and a pass over all logits to add.
        bias: Any = model.final_logits_bias
        self.bias = bias if bool(bias.any()) else None

    def step(self, tokens: Tensor) -> Tensor:
        self.pasts.begin()
        seen = self.pasts.seen
        hidden = self.model.get_decoder()(
            input_ids=tokens[:, None],
            attention_mask=self.visible if seen is None else seen[None, None, None],
            encoder_hidden_states=self.states,
            encoder_attention_mask=self.visible if self.mask is None else self.mask,
            **{CACHE: self.cache},
            use_cache=True,
        )[0]
        logits: Tensor = self.model.get_output_embeddings()(hidden[:, 0])
        return logits if self.bias is None else logits.add_(self.bias)

    def reorder(self, rows: Tensor) -> None:
        self.pasts.reorder_cache(rows)

    _spread = reorder

    def keep(self, documents: Tensor, rows_a_document: int) -> None:
        self.reorder(rows_of(documents, rows_a_document))
        self.cache.cross_attention_cache.reorder_cache(documents)
        self.states = self.states.index_select(0, documents)
        if self.mask is not None:
            self.mask = self.mask.index_select(0, documents)


class PlainSteps(DecoderSteps):
    """A decoder step as the model itself makes it, with the encoder's states repeated N times."""

    def __init__(self, model: PreTrainedModel, states: Tensor, mask: Tensor, given: Given) -> None:
        self.model, self.states, self.mask, self.given = model, states, mask, given
        self.cache: Any = EncoderDecoderCache(DynamicCache(), DynamicCache())

    def step(self, tokens: Tensor) -> Tensor:
        return self.model(
            encoder_outputs=EncoderStates(self.states),
            attention_mask=self.mask,
            decoder_input_ids=tokens[:, None],
            **{CACHE: self.cache},
            use_cache=True,
        ).logits[:, -1]

    def reorder(self, rows: Tensor) -> None:
        self.cache.self_attention_cache.reorder_cache(rows)

    def keep(self, documents: Tensor, rows_a_document: int) -> None:
        self._spread(rows_of(documents, rows_a_document))

    def _spread(self, rows: Tensor) -> None:
        self.cache.reorder_cache(rows)
        self.states = self.states.index_select(0, rows)
        self.mask = self.mask.index_select(0, rows)


class PromptSteps(Steps):
    """A batch of prompts [B, S], padded on either side, and what is written behind them.

    Nothing is given: lengths count written tokens. shares: all rows of a document share its
    prompt's keys and values; without, each row has a copy, and the model its own attention.
    """

    pasts: Pasts | None = None

    def __init__(
        self,
        model: PreTrainedModel,
        sources: Sources,
        limit: int,
        shares: bool,
        static: bool = False,
    ) -> None:
        """Reads the prompts; `limit` counts written tokens. BridoError: a prompt is empty."""
        ids, mask = left_padded(sources)
        self.model, self.prompts = model, ids.masked_fill(mask == 0, -1)
        # Told nothing of the model, a cache keeps whole prompts, windows or not.
        self.cache: Any = DynamicCache() if shares else DynamicCache(config=model.config)
        self.logits, self.positions = _read(model, ids, mask, self.cache)
        self.shared: SharedPrompt | None = None
        self.mask: Any = mask.bool()
        if shares:
            self.cache = self.shared = SharedPrompt(self.cache, self.mask, limit, static)
            self.pasts = self.shared.own
            # The prompt's pads are hidden by the cache.
            self.mask = masks(model, lambda _: no_mask(ids.device))

    def start(self, tokens: Tensor, rows_a_document: int) -> Tensor:
        """See Steps; `tokens` are [B, 0]."""
        documents = torch.arange(len(tokens), device=tokens.device)
        rows = documents.repeat_interleave(rows_a_document)
        self.positions = self.positions[rows]
        self.reorder(rows)
        return self.logits

    def step(self, tokens: Tensor) -> Tensor:
        if self.shared is None:
            self.mask = torch.cat([self.mask, self.mask.new_ones(len(self.mask), 1)], dim=1)
        else:
            self.shared.own.begin()
        with nullcontext() if self.shared is None else behind(self.shared):
            logits: Tensor = self.model(
                input_ids=tokens[:, None],
                attention_mask=self.mask,
                position_ids=self.positions[:, None],
                **{CACHE: self.cache},
                use_cache=True,
            ).logits[:, -1]
        self.positions += 1
        return logits

    def reorder(self, rows: Tensor) -> None:
        """See Steps; positions are the same in all rows of a document."""
        self.cache.reorder_cache(rows)
        if self.shared is None:
            self.mask = self.mask.index_select(0, rows)

    def keep(self, documents: Tensor, rows_a_document: int) -> None:
        rows = rows_of(documents, rows_a_document)
        self.positions = self.positions[rows]
        self.reorder(rows)
        if self.shared is not None:
            self.shared.keep(documents)


def _read(
    model: PreTrainedModel, ids: Tensor, mask: Tensor, cache: DynamicCache
) -> tuple[Tensor, Tensor]:
    """Logits [B, V] behind prompts padded on the left, and the next token's positions [B]."""
    places = mask.cumsum(1)
    logits = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=(places - 1).clamp(min=0),
        **{CACHE: cache},
        use_cache=True,
        logits_to_keep=1,
    ).logits[:, -1]
    return logits, places[:, -1]
