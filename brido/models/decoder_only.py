"""Decoder-only models: what BRIDO has to know about each family of them, in one table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from brido.models.causal_steps import CausalSteps, RepeatedStates
from brido.models.interface import Family, ModelParts, States, Steps, Texts
from brido.models.prompt import Prompt, end_of_answer
from brido.models.sharing.cached_prefix import CachedStates
from brido.models.sharing.shared_prefix import TAKES_MASKS, PackedStates
from brido.models.special_tokens import SpecialTokens, end_tokens, pad_token
from brido.models.tokens import Sources
from brido.utils.errors import ArgumentError, BridoError

# Layers that look at earlier tokens through attention alone. What others keep of a text (a state, a
# few last tokens) can be neither shared by candidates nor handed from beam to beam.
ATTENTION = {"full_attention", "sliding_attention", "chunked_attention"}
# Of another time: without keys and values that are kept from step to step.
WITHOUT_CACHE = {"openai-gpt", "reformer", "xlm", "xlnet"}


@dataclass(frozen=True)
class DecoderOnly(Family):
    """Facts about one family of decoder-only models.

    packs: all texts of a document can stand in one row. For that the model uses a mask of four
    dimensions as it is, one for each of its `layer_types`. Its logits are its output layer's, with
    a soft cap or none.
    """

    loader: ClassVar[Any] = AutoModelForCausalLM
    model_type: str
    float16: bool
    has_positions: bool = True
    packs: bool = True

    def special(self, model: PreTrainedModel) -> SpecialTokens:
        """See Family. A model without a pad token pads with its (first) end."""
        return SpecialTokens.of(model)

    def read(self, parts: ModelParts, documents: Sequence[str]) -> Sources:
        """See Family: whole prompts, padded on the left; the document is what is cut."""
        prompt, limit = Prompt.of(parts.tokenizer, parts.reading), parts.reading.max_source_tokens
        rows = [prompt.fit(document, limit) for document in documents]
        width = max(len(ids) for ids, _ in rows)
        ids = torch.zeros(len(rows), width, dtype=torch.long)
        mask = torch.zeros_like(ids)
        # A pad is hidden by the mask, so any token will do where a tokenizer names none.
        ids += parts.tokenizer.pad_token_id or 0
        for place, (row, _) in enumerate(rows):
            ids[place, width - len(row) :] = torch.tensor(row)
            mask[place, width - len(row) :] = 1
        return Sources(ids, mask, tuple(place for place, (_, cut) in enumerate(rows) if cut))

    def write(
        self, parts: ModelParts, texts: Texts, sources: Sources | None, limit: int
    ) -> list[list[int]]:
        """See Family. The given token is the last of the prompt; a text of more than `limit` tokens
        is cut and has no end."""
        prompt = Prompt.of(parts.tokenizer, parts.reading)
        end = end_of_answer(parts.tokenizer, parts.reading, end_tokens(parts.model))
        given: list[Any] = [pad_token(parts.model)] * len(texts)
        if sources is not None:
            given = last_tokens(sources).tolist()
        return [
            [token, *[*prompt.answer(text), end][:limit]]
            for token, row in zip(given, texts, strict=True)
            for text in row
        ]

    def problems(self, parts: ModelParts) -> Iterator[str]:
        """See Family."""
        reading = parts.reading
        if reading.decoder_prefix != "generation":
            yield f"reading: decoder_prefix {reading.decoder_prefix} is for encoder-decoders alone"
        try:
            Prompt.of(parts.tokenizer, reading).fit("", reading.max_source_tokens)
        except BridoError as error:
            yield str(error)

    def room(self, parts: ModelParts) -> int | None:
        """See Family: what the longest prompt leaves of the model's context."""
        positions = self.positions(parts.model.config)
        return None if positions is None else positions - parts.reading.max_source_tokens

    def batch_tokens(self, source: int, rows: int, limit: int) -> int:
        """See Family: the prompt, which is kept once, and all that may be written."""
        return source + rows * limit

    def steps(self, model: PreTrainedModel, sources: Sources, limit: int) -> Steps:
        """See Family."""
        positions, prompt = self.positions(model.config), int(sources.mask.sum(1).max())
        # The last token is never read.
        if positions is not None and prompt + limit > positions + 1:
            raise BridoError(
                f"a prompt of {prompt} tokens and max_length ({limit}) are more than the model's "
                f"{positions} positions: lower one of them"
            )
        return CausalSteps(model, sources, limit)

    def states(
        self, model: PreTrainedModel, sources: Sources, given: Tensor, passes: int
    ) -> AbstractContextManager[States]:
        """See Family. Raise ArgumentError if `given` is not the prompt's last token."""
        if not torch.equal(given[:, 0], last_tokens(sources)):
            raise ArgumentError(
                "position 0 of candidate_ids must be the last token of the prompt once more"
            )
        takes_masks = model.config._attn_implementation in TAKES_MASKS
        if not (self.packs and takes_masks):
            return nullcontext(RepeatedStates(model, sources))
        # Keys and values that are kept have no gradient.
        keeps = passes > 1 and sources.ids.shape[1] > 1 and not torch.is_grad_enabled()
        kind = CachedStates if keeps else PackedStates
        return nullcontext(kind(model, sources))

    def written_with(self, model: PreTrainedModel) -> Iterator[torch.nn.Module]:
        """See Family."""
        yield from model.modules()


def last_tokens(sources: Sources) -> Tensor:
    """Return the last token [B] of every prompt, whichever side is padded."""
    places = torch.arange(sources.mask.shape[1], device=sources.mask.device)
    return sources.ids.gather(1, (sources.mask * places).argmax(1, keepdim=True))[:, 0]


FAMILIES = (
    DecoderOnly("llama", float16=True),
    DecoderOnly("mistral", float16=True),
    DecoderOnly("gpt2", float16=True),
    DecoderOnly("qwen2", float16=False),
    DecoderOnly("qwen3", float16=False),
    DecoderOnly("gemma3_text", float16=False),
    DecoderOnly("smollm3", float16=False),
    DecoderOnly("olmo2", float16=False),
)


def unknown_family(config: Any) -> DecoderOnly:
    """Describe a family that is not in the table by the most careful facts, and warn.

    Raises:
        BridoError: transformers knows no causal model of this kind, or the model looks at earlier
            tokens through more than attention.
    """
    kind = config.model_type
    encoder = getattr(config, "is_decoder", True) is False
    if encoder or type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise BridoError(
            f"a {kind} model, which does not write text: choose a summarizer or a chat model"
        )
    model = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    others = set(getattr(config.get_text_config(), "layer_types", None) or ()) - ATTENTION
    if getattr(model, "_is_stateful", False) or others or kind in WITHOUT_CACHE:
        raise BridoError(
            f"a {kind} model, which has layers other than plain attention (recurrent, "
            "convolutional, linear): what it keeps of a text cannot be handed from candidate to "
            "candidate; choose a model of attention alone, such as Llama, Qwen 3 or Gemma 3"
        )
    known = ", ".join(family.model_type for family in FAMILIES)
    warnings.warn(
        f"model family {kind!r} is not one of {known}: every candidate gets its own copy of the "
        "prompt, and float16 is refused",
        stacklevel=3,
    )
    return DecoderOnly(kind, float16=False, packs=False)
