"""The attention through which all texts of a document share what was read of it.

transformers repeats a source's or prompt's keys and values for every candidate, and so projects,
stores and reads them N times. Here they keep their batch of B documents, in three ways:

* Cross-attention of an encoder-decoder: B rows of keys meet B * N rows of queries. The N texts of a
  document are folded into the query axis (a view, no copy). That works for one token with a cache,
  for many, and with gradients.
* A step behind a prompt: `SharedPrompt` has the prompt's keys and values, the call the row's own.
* Texts packed behind their prompt (`packed_rows.py`) need no more than a mask.

The `States` of encoder-decoders, at the end, score texts so, or with copies where a family cannot
share. Everything else is transformers' `sdpa`. So a model is pointed to this function once, when it
is first used, and keeps it: nothing is switched while another thread may be running the model.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import (
    AttentionInterface,
    AttentionMaskInterface,
    DynamicCache,
    EncoderDecoderCache,
    PreTrainedModel,
)
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask
from transformers.modeling_outputs import BaseModelOutput

from brido.models.interface import Head, States
from brido.models.sharing.pasts import CACHE

SHARED = "brido_shared"
_SETTING = Lock()


class ReadPrompt(Protocol):
    """What attends in place of `sdpa` (see `SharedPrompt.attend`)."""

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, **how: Any) -> Tensor:
        """Attention [R, H, D] of one query a row."""


# The prompt behind which this thread is writing.
_PROMPT: ContextVar[ReadPrompt | None] = ContextVar("prompt", default=None)


def share_attention(model: PreTrainedModel) -> bool:
    """Whether the texts of a document can share in this model; its attention is set for that, once.

    They can where the model uses transformers' `sdpa`: this function does what that does. A model
    that was loaded with another attention (eager, flash_attention_2) keeps it and shares nothing.
    """
    with _SETTING:  # setting it walks through all modules
        if model.config._attn_implementation == "sdpa":
            model.set_attn_implementation(SHARED)
    return model.config._attn_implementation == SHARED


@contextmanager
def behind(prompt: ReadPrompt) -> Iterator[None]:
    """A block in which attention, of this thread alone, is that of rows behind a prompt."""
    former = _PROMPT.set(prompt)
    try:
        yield
    finally:
        _PROMPT.reset(former)


def source_mask(attention_mask: Tensor) -> Tensor:
    """Return the 4-D boolean mask [B, 1, 1, S] of a 2-D one [B, S], True where a source token is.

    Four dimensions, because transformers checks a 2-D mask against the decoder's batch of B*N.
    """
    return attention_mask.bool()[:, None, None, :]


def no_mask(device: torch.device) -> Tensor:
    """Return a mask [1, 1, 1, 1] that hides nothing and costs nothing.

    For steps where every key is visible (one new token with a cache; sources of one length).
    Leaving the mask out instead makes transformers build one, and read it back from the device.
    """
    return torch.ones(1, 1, 1, 1, dtype=torch.bool, device=device)


def masks(model: PreTrainedModel, seen_within: Callable[[int | None], Tensor]) -> Any:
    """Return a mask as the model's attention takes it; several, by type, where layers differ.

    A mask of four dimensions is used as it is, so the window of sliding layers must be in it:
    `seen_within(window)` says which tokens each token sees, [B, 1, queries, keys] boolean.
    """
    window = getattr(model.config, "sliding_window", None)
    types = getattr(model.config, "layer_types", None)
    if types is None:
        return seen_within(window)
    windows = {"full_attention": None, "sliding_attention": window}
    return {kind: seen_within(windows[kind]) for kind in set(types)}


def _one_query(query: Tensor, key: Tensor, value: Tensor, scaling: float | None) -> Tensor:
    """Attention [R, 1, H, D] of one query a row [R, H, 1, D] to keys and values [R, H, t, D].

    On a processor two batched products are faster than the fused kernel, made for many queries.
    """
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    scaled = (query * scaling).flatten(0, 1)
    weights = torch.bmm(scaled, key.flatten(0, 1).transpose(1, 2)).softmax(-1)
    return torch.bmm(weights, value.flatten(0, 1)).view(query.shape).transpose(1, 2)


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **how: Any,
) -> tuple[Tensor, None]:
    """Attention [R, T, H, D] as transformers asks for it, of queries [R, H, T, D]."""
    prompt = _PROMPT.get()
    if prompt is not None:
        found = prompt.attend(module.layer_idx, query[:, :, 0], key, value, **how)
        return found[:, None], None
    causal = how.pop("is_causal", None)
    rows, tokens = query.shape[0], query.shape[2]
    documents = key.shape[0]
    if attention_mask is not None and attention_mask.shape == (1, 1, 1, 1):  # `no_mask`
        attention_mask, causal = None, False
        own_tokens = query.shape[:2] == key.shape[:2] and getattr(module, "is_causal", False)
        if own_tokens and tokens == 1 and query.device.type == "cpu":
            return _one_query(query, key, value, how.get("scaling")), None
    if rows == documents:
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, is_causal=causal, **how
        )
    # [B*N, H, T, D] -> [B, H, N*T, D], a view of the projection's own layout [B*N, T, H, D].
    folded = query.transpose(1, 2).reshape(documents, -1, query.shape[1], query.shape[3])
    folded, _ = sdpa_attention_forward(
        module, folded.transpose(1, 2), key, value, attention_mask, is_causal=False, **how
    )
    return folded.reshape(rows, tokens, *folded.shape[2:]), None


AttentionInterface.register(SHARED, _attend)
# Without a mask function of the same name transformers drops 2-D masks silently.
AttentionMaskInterface.register(SHARED, sdpa_mask)


@dataclass
class EncoderStates(BaseModelOutput):
    """The encoder's states as a model takes them back; mixtures of experts ask for routers too."""

    router_logits: Any = None


class PlainStates(States):
    """The whole model with repeated encoder states; what comes back are logits."""

    def __init__(self, model: PreTrainedModel, states: Tensor, mask: Tensor) -> None:
        self.model, self.states, self.mask = model, states, mask

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        texts = len(ids) // len(self.states)
        logits: Tensor = self.model(
            encoder_outputs=EncoderStates(self.states.repeat_interleave(texts, 0)),
            attention_mask=self.mask.repeat_interleave(texts, 0),
            decoder_input_ids=ids,
            use_cache=False,
        ).logits
        return logits.flatten(0, 1)[scored]


class RepeatingStates(States):
    """The model's own decoder with repeated encoder states, which `scale` multiplies at the end."""

    def __init__(
        self, model: PreTrainedModel, states: Tensor, mask: Tensor, head: Head, scale: float = 1.0
    ) -> None:
        self.model, self.states, self.mask, self.scale = model, states, mask, scale
        self.head = head

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        texts = len(ids) // len(self.states)
        hidden: Tensor = self.model.get_decoder()(
            input_ids=ids,
            encoder_hidden_states=self.states.repeat_interleave(texts, 0),
            encoder_attention_mask=self.mask.repeat_interleave(texts, 0),
            use_cache=False,
        )[0]
        return hidden.flatten(0, 1)[scored] * self.scale


class SharingStates(States):
    """The model's own decoder with one set of source keys and values a document."""

    def __init__(
        self,
        model: PreTrainedModel,
        states: Tensor,
        mask: Tensor,
        head: Head,
        start: Tensor | None,
    ) -> None:
        self.model, self.states, self.head = model, states, head
        hides = not bool(mask.all())
        self.mask = source_mask(mask) if hides else no_mask(states.device)
        self.source: DynamicCache | None = None
        if start is not None:
            # One token a document fills the cache that all passes then read.
            cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
            self._decode(start, cache)
            self.source = cache.cross_attention_cache

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        cache = None
        if self.source is not None:
            cache = EncoderDecoderCache(_NoCache(), self.source)
        return self._decode(ids, cache).flatten(0, 1)[scored]

    def _decode(self, ids: Tensor, cache: EncoderDecoderCache | None) -> Tensor:
        hidden: Tensor = self.model.get_decoder()(
            input_ids=ids,
            encoder_hidden_states=self.states,
            encoder_attention_mask=self.mask,
            **{CACHE: cache},
            use_cache=cache is not None,
        )[0]
        return hidden


class _NoCache(DynamicCache):
    """Keeps nothing: every text is read whole, so its own keys and values are not reused."""

    # Releases of transformers pass different things after the keys and values.
    def update(
        self, key_states: Tensor, value_states: Tensor, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        return key_states, value_states
