"""Encoder-decoders: what BRIDO has to know about each family of them, in one table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from transformers import AutoModelForSeq2SeqLM, PreTrainedModel

from brido.models.decoder_states import encoder_decoder_states
from brido.models.decoder_steps import PlainSteps, SharedSteps, check_length
from brido.models.interface import Family, ModelParts, States, Steps, Texts
from brido.models.sharing.cross_attention import shared_cross_attention
from brido.models.special_tokens import SpecialTokens
from brido.models.tokens import Sources, padded
from brido.utils.errors import BridoError


@dataclass(frozen=True)
class EncoderDecoder(Family):
    """Facts about one family of encoder-decoders.

    shares_source: all candidates of a document can share one set of the source's keys and values.
    For that the decoder is built of BART's modules (`decoder_steps.py`), reaches attention through
    transformers' interface alone and takes the batch size of the keys from the encoder states.
    norm_first: BART's modules normalise what comes in, not what goes out, and the decoder at last.
    """

    loader: ClassVar[Any] = AutoModelForSeq2SeqLM
    model_type: str
    shares_source: bool
    has_positions: bool
    float16: bool
    norm_first: bool = False
    newline: str | None = None
    started: ClassVar[int] = 1

    def special(self, model: PreTrainedModel) -> SpecialTokens:
        """See Family."""
        return SpecialTokens.of(model, start_token(model))

    def read(self, parts: ModelParts, documents: Sequence[str]) -> Sources:
        """See Family."""
        tokenizer, limit = parts.tokenizer, parts.reading.max_source_tokens
        encoded = tokenizer(list(documents), truncation=True, max_length=limit)
        rows = encoded.input_ids
        # Special tokens stand at the end of a cut document too, so its length alone says nothing.
        full = [place for place, ids in enumerate(rows) if len(ids) == limit]
        if encoded.is_fast:
            cut = [place for place in full if encoded.encodings[place].overflowing]
        else:
            whole = tokenizer([documents[n] for n in full], verbose=False).input_ids if full else []
            cut = [place for place, ids in zip(full, whole, strict=True) if len(ids) > limit]
        ids = padded(rows, tokenizer.pad_token_id)
        mask = padded([[1] * len(ids) for ids in rows], 0)
        return Sources(ids, mask, tuple(cut))

    def write(
        self, parts: ModelParts, texts: Texts, sources: Sources | None, limit: int
    ) -> list[list[int]]:
        """See Family. The given token by `reading.decoder_prefix`:

        generation: the token that decoding starts from, before everything the tokenizer gives
        (BART: `</s> <s> x </s>`). brio: where the tokenizer itself begins with `<s>`, that (BART:
        `<s> x </s>`); models without one start as in generation.
        """
        start, begin = start_token(parts.model), parts.tokenizer.bos_token_id
        flat = [text for row in texts for text in row]
        rows = parts.tokenizer(text_target=flat, truncation=True, max_length=limit)["input_ids"]
        if parts.reading.decoder_prefix == "brio" and begin is not None:
            return [ids if ids[:1] == [begin] else [start, *ids] for ids in rows]
        return [[start, *ids] for ids in rows]

    def problems(self, parts: ModelParts) -> Iterator[str]:
        """See Family."""
        for key in ("prompt", "system", "template"):
            if getattr(parts.reading, key):
                yield f"reading.{key} is for decoder-only models: this one reads the document alone"

    def steps(self, model: PreTrainedModel, sources: Sources, limit: int) -> Steps:
        """See Family."""
        states = model.get_encoder()(input_ids=sources.ids, attention_mask=sources.mask)[0]
        given = (start_token(model),)
        if self.shares_source:
            return SharedSteps(model, states, sources.mask, given, limit, self.norm_first)
        positions = self.positions(model.config)
        if positions is not None:
            check_length(limit, positions)
        return PlainSteps(model, states, sources.mask, given)

    def states(
        self, model: PreTrainedModel, sources: Sources, given: Tensor, passes: int
    ) -> AbstractContextManager[States]:
        """See Family."""
        return encoder_decoder_states(model, sources, given, passes, self.shares_source)

    def training(self, model: PreTrainedModel) -> AbstractContextManager[Any]:
        """See Family."""
        return shared_cross_attention(model, self.shares_source)

    def written_with(self, model: PreTrainedModel) -> Iterator[torch.nn.Module]:
        """See Family."""
        yield from model.get_decoder().modules()
        yield model.get_output_embeddings()


FAMILIES = (
    EncoderDecoder("bart", shares_source=True, has_positions=True, float16=True),
    EncoderDecoder("mbart", True, has_positions=True, float16=True, norm_first=True),
    EncoderDecoder("marian", shares_source=True, has_positions=True, float16=True),
    EncoderDecoder("pegasus", True, True, float16=False, norm_first=True, newline="<n>"),
    EncoderDecoder("t5", shares_source=False, has_positions=False, float16=False),
)


def unknown_family(config: Any) -> EncoderDecoder:
    """Describe a family that is not in the table by the most careful facts, and warn."""
    model_type, known = config.model_type, ", ".join(family.model_type for family in FAMILIES)
    warnings.warn(
        f"model family {model_type!r} is not one of {known}: every beam gets its own copy of the "
        "source's keys and values, which is correct but slow",
        stacklevel=3,
    )
    return EncoderDecoder(model_type, shares_source=False, has_positions=True, float16=False)


def start_token(model: PreTrainedModel) -> int:
    """The token that writing starts from. Raise BridoError if the model does not name one."""
    for settings in (model.generation_config, model.config):
        token = getattr(settings, "decoder_start_token_id", None)
        if token is not None:
            return token
    token = model.generation_config.bos_token_id
    if token is None:
        raise BridoError(
            "this model cannot be searched: its generation_config lacks decoder_start_token_id"
        )
    return token
