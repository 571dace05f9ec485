"""Texts scored by the decoders of encoder-decoders, behind sources that were read before."""

from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache, PreTrainedModel

from brido.models.decoder_steps import EncoderStates
from brido.models.interface import Head, States
from brido.models.sharing.attention import no_mask, source_mask
from brido.models.sharing.pasts import CACHE


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
        self, model: PreTrainedModel, states: Tensor, mask: Tensor, scale: float = 1.0
    ) -> None:
        self.model, self.states, self.mask, self.scale = model, states, mask, scale
        self.head = _head(model)

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        texts = len(ids) // len(self.states)
        hidden: Tensor = self.model.get_decoder()(
            input_ids=ids,
            encoder_hidden_states=self.states.repeat_interleave(texts, 0),
            encoder_attention_mask=self.mask.repeat_interleave(texts, 0),
            use_cache=False,
        )[0]
        return hidden.flatten(0, 1)[scored] * self.scale


def _head(model: PreTrainedModel) -> Head:
    bias = getattr(model, "final_logits_bias", None)
    return Head(model.get_output_embeddings().weight, None if bias is None else bias[0])


class SharingStates(States):
    """The model's own decoder with one set of source keys and values a document."""

    def __init__(
        self, model: PreTrainedModel, states: Tensor, mask: Tensor, start: Tensor | None
    ) -> None:
        self.model, self.states, self.head = model, states, _head(model)
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
