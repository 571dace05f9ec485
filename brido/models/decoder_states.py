"""Encoder-decoders scoring texts: hidden states of the scored tokens, the source read once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from brido.models.interface import Head, States
from brido.models.sharing.cross_attention import (
    SHARED_EAGER,
    SHARED_SDPA,
    no_mask,
    shared_cross_attention,
    source_mask,
)
from brido.models.tokens import Sources


@contextmanager
def encoder_decoder_states(
    model: PreTrainedModel, sources: Sources, given: Tensor, passes: int, shares: bool
) -> Iterator[States]:
    """States that share one set of source keys and values where the model can, else plain ones.

    transformers' layer checkpoints drop caches and run the attention again in the backward pass:
    with them each pass projects the source itself, and sharing needs a caller who keeps
    `Family.training` open until the backward pass is over.
    """
    states = model.get_encoder()(input_ids=sources.ids, attention_mask=sources.mask)[0]
    layers = model.training and torch.is_grad_enabled() and _checkpoints_layers(model)
    open_block = model.config._attn_implementation in (SHARED_SDPA, SHARED_EAGER)
    if not shares or (layers and not open_block):
        yield PlainStates(model, states, sources.mask)
    else:
        start = None if layers or passes == 1 else given
        yield SharingStates(model, states, sources.mask, start)


def _checkpoints_layers(model: PreTrainedModel) -> bool:
    return any(getattr(module, "gradient_checkpointing", False) for module in model.modules())


class PlainStates(States):
    """The whole model with repeated encoder states; what comes back are logits."""

    def __init__(self, model: PreTrainedModel, states: Tensor, mask: Tensor) -> None:
        self.model, self.states, self.mask = model, states, mask

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        """See States."""
        candidates = len(ids) // len(self.states)
        logits = self.model(
            encoder_outputs=BaseModelOutput(self.states.repeat_interleave(candidates, 0)),
            attention_mask=self.mask.repeat_interleave(candidates, 0),
            decoder_input_ids=ids,
            use_cache=False,
        ).logits
        return logits.flatten(0, 1)[scored]


class SharingStates(States):
    """The model's own decoder with one set of source keys and values a document."""

    def __init__(
        self, model: PreTrainedModel, states: Tensor, mask: Tensor, start: Tensor | None
    ) -> None:
        self.model, self.states = model, states
        bias = getattr(model, "final_logits_bias", None)
        weight = model.get_output_embeddings().weight
        self.head = Head(weight, None if bias is None else bias[0])
        hides = not bool(mask.all())
        self.mask = source_mask(mask) if hides else no_mask(states.device)
        self.source: DynamicCache | None = None
        if start is not None:
            # One token a document fills the cache that all passes then read.
            cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
            self._decode(start, cache)
            self.source = cache.cross_attention_cache

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        """See States."""
        cache = None
        if self.source is not None:
            cache = EncoderDecoderCache(_NoCache(), self.source)
        return self._decode(ids, cache).flatten(0, 1)[scored]

    def _decode(self, ids: Tensor, cache: EncoderDecoderCache | None) -> Tensor:
        # Entered for each call, because a checkpointed pass runs again in the backward pass.
        with shared_cross_attention(self.model):
            return self.model.get_decoder()(
                input_ids=ids,
                encoder_hidden_states=self.states,
                encoder_attention_mask=self.mask,
                past_key_values=cache,
                use_cache=cache is not None,
            )[0]


class _NoCache(DynamicCache):
    """Keeps nothing: every text is read whole, so its own keys and values are not reused."""

    def update(self, key_states: Tensor, value_states: Tensor, *_: object) -> tuple[Tensor, Tensor]:
        return key_states, value_states
