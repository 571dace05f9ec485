"""The model's side of a search: encode once, then one decoder step a token for all rows."""

from __future__ import annotations

from functools import partial

import torch
from transformers import Cache, DynamicCache, DynamicLayer, EncoderDecoderCache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from brido.seq2seq.attention import no_mask, source_mask


class SelfAttentionLayer(DynamicLayer):
    """Keys and values of one decoder layer in buffers [limit, R, H, D], the newest token last.

    `DynamicLayer` copies all former tokens to add one; here only the new token is written. With
    tokens first, new tokens and reordered rows touch the part of a buffer that is in use, and a
    processor gives memory to no other part.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self._length = 0
        self._buffers: list[torch.Tensor] = []

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: object, **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys and values [R, H, t + new, D] with the new tokens appended."""
        rows, heads, new, width = key_states.shape
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self._buffers = [key_states.new_empty(self.limit, rows, heads, width) for _ in "kv"]
        for buffer, states in zip(self._buffers, (key_states, value_states), strict=True):
            buffer[self._length : self._length + new] = states.permute(2, 0, 1, 3)
        self._length += new
        return self._view()

    def _view(self) -> tuple[torch.Tensor, torch.Tensor]:
        self.keys, self.values = (
            buffer[: self._length].permute(1, 2, 0, 3) for buffer in self._buffers
        )
        return self.keys, self.values

    def select(self, rows: torch.Tensor, spare: torch.Tensor | None) -> torch.Tensor:
        """Keep `rows` (any number, in their order, repeats allowed).

        `spare` is a buffer to write to, returned is one that is free now: a search that reorders
        its rows at every step needs one buffer more than it has, not memory of the system.
        """
        for place, buffer in enumerate(self._buffers):
            if spare is None or spare.shape[1] != len(rows):
                spare = buffer.new_empty(self.limit, len(rows), *buffer.shape[2:])
            used = slice(self._length)
            torch.index_select(buffer[used], 1, rows, out=spare[used])
            self._buffers[place], spare = spare, buffer
        self._view()
        return spare


class Decoder:
    """A batch of B documents being decoded with N rows each.

    Where cross-attention is shared (`shared`, see attention.py) the source's keys and values have B
    rows for good; elsewhere they are repeated when the rows are.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        shared: bool,
        max_length: int,
    ) -> None:
        self.model, self.shared = model, shared
        encoder = model.get_encoder()
        self.states = encoder(input_ids=input_ids, attention_mask=attention_mask)[0]
        self.mask = attention_mask
        self.nothing_hidden = no_mask(input_ids.device)
        if shared:
            # Nearly always zero, and a pass over all logits to add.
            self.bias = model.final_logits_bias
            self.biased = bool(self.bias.any())
            padded = not bool(attention_mask.all())
            self.mask = source_mask(attention_mask) if padded else self.nothing_hidden
        own = Cache(layer_class_to_replicate=partial(SelfAttentionLayer, max_length))
        self.cache = EncoderDecoderCache(own, DynamicCache())
        self.spare: torch.Tensor | None = None
        self.logits: torch.Tensor | None = None

    def start(self, ids: torch.Tensor, rows_a_document: int) -> torch.Tensor:
        """Logits [B, V] after the first tokens `ids` [B, P]; then every document has N rows."""
        logits = self._logits(ids, None)
        rows = torch.arange(len(ids), device=ids.device).repeat_interleave(rows_a_document)
        self.reorder(rows)
        if not self.shared:
            for layer in self.cache.cross_attention_cache.layers:
                _select(layer, rows)
            self.states = self.states.index_select(0, rows)
            self.mask = self.mask.index_select(0, rows)
        return logits

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits [R, V] after one more token a row, `tokens` [R]."""
        return self._logits(tokens[:, None], self.nothing_hidden)

    def _logits(self, ids: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        if not self.shared:
            return self.model(
                encoder_outputs=BaseModelOutput(self.states),
                attention_mask=self.mask,
                decoder_input_ids=ids,
                past_key_values=self.cache,
                use_cache=True,
            ).logits[:, -1]
        hidden = self.model.get_decoder()(
            input_ids=ids,
            attention_mask=mask,
            encoder_hidden_states=self.states,
            encoder_attention_mask=self.mask,
            past_key_values=self.cache,
            use_cache=True,
        )[0][:, -1]
        # One tensor for all steps: the largest of a step, taken anew each time, scatters memory.
        weight = self.model.get_output_embeddings().weight
        if self.logits is None or len(self.logits) != len(hidden):
            self.logits = hidden.new_empty(len(hidden), len(weight))
        logits = torch.mm(hidden, weight.t(), out=self.logits)
        return logits.add_(self.bias) if self.biased else logits

    def reorder(self, rows: torch.Tensor) -> None:
        """Row r goes on from what row `rows[r]` was; the rows of a document stay its own."""
        for layer in self.cache.self_attention_cache.layers:
            self.spare = layer.select(rows, self.spare)

    def keep(self, documents: torch.Tensor, rows_a_document: int) -> None:
        """Go on with `documents` (indices) alone."""
        offsets = torch.arange(rows_a_document, device=documents.device)
        rows = (documents[:, None] * rows_a_document + offsets).flatten()
        self.reorder(rows)
        source_rows = documents if self.shared else rows
        for layer in self.cache.cross_attention_cache.layers:
            _select(layer, source_rows)
        self.states = self.states.index_select(0, source_rows)
        if self.mask.shape[0] > 1:
            self.mask = self.mask.index_select(0, source_rows)


def _select(layer: DynamicLayer, rows: torch.Tensor) -> None:
    layer.keys = layer.keys.index_select(0, rows)
    layer.values = layer.values.index_select(0, rows)
