"""Decoder-only models: what BRIDO has to know about each family of them, in one table."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from brido.models.decoder_steps import PromptSteps
from brido.models.interface import Family, ModelParts, States, Steps, Texts
from brido.models.prompt import Prompt
from brido.models.replay import ReplayedSteps, can_replay
from brido.models.sharing.attention import share_attention
from brido.models.sharing.packed_rows import CachedStates, PackedStates
from brido.models.tokens import Sources, end_tokens
from brido.utils.errors import ArgumentError, BridoError

# Layers that look at earlier tokens through attention alone. What others keep of a text (a state, a
# few last tokens) can be neither shared by candidates nor handed from beam to beam.
ATTENTION = {"full_attention", "sliding_attention", "chunked_attention"}


@dataclass(frozen=True)
class DecoderOnly(Family):
    """Facts about one family of decoder-only models.

    shares: for that every layer keeps its own keys and values, and reaches attention through
    transformers' interface, with its window if it has one. The model uses a mask of four dimensions
    as it is, one for each of its `layer_types`. Its logits are its output layer's, with a soft cap
    or none.
    """

    loader: ClassVar[Any] = AutoModelForCausalLM
    model_type: str
    has_positions: bool = True
    shares: bool = True

    def prompt(self, parts: ModelParts) -> Prompt:
        return Prompt.of(parts.tokenizer, parts.reading)

    @property
    def one_row(self) -> bool:  # type: ignore[override]
        """See Family."""
        return self.shares

    def read(self, parts: ModelParts, documents: Sequence[str]) -> Sources:
        """See Family: whole prompts, padded on the left; the document is what is cut."""
        rows, cut = parts.prompt.fit_all(documents, parts.reading.max_source_tokens)
        lengths = torch.tensor([len(row) for row in rows])
        width = int(lengths.max())
        # A pad is hidden by the mask, so any token that the model knows will do.
        padded = [[0] * (width - len(row)) + row for row in rows]
        mask = torch.arange(width) >= width - lengths[:, None]
        return Sources(torch.tensor(padded, dtype=torch.long), mask.long(), tuple(cut))

    def write(
        self, parts: ModelParts, texts: Texts, sources: Sources | None, limit: int
    ) -> list[list[int]]:
        """See Family. The given token is the last of the prompt; a text of more than `limit` tokens
        is cut and has no end."""
        prompt = parts.prompt
        end = prompt.end(end_tokens(parts.model))
        given = [0] * len(texts) if sources is None else last_tokens(sources).tolist()
        return [
            [token, *[*prompt.answer(text), end][:limit]]
            for token, row in zip(given, texts, strict=True)
            for text in row
        ]

    def problems(self, parts: ModelParts) -> Iterator[str]:
        reading = parts.reading
        if reading.decoder_prefix != "generation":
            yield (
                f"reading: decoder_prefix {reading.decoder_prefix} is for encoder-decoders only: "
                "write generation"
            )
        embeddings: Any = parts.model.get_input_embeddings()
        try:
            prompt = self.prompt(parts)
            prompt.check(reading.max_source_tokens)
            if max(prompt.ids(""), default=0) >= embeddings.num_embeddings:
                yield (
                    "the prompt has a control token that the tokenizer knows and the model does "
                    "not: use another model, or a template without that token"
                )
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
        positions, prompt = self.positions(model.config), int(sources.mask.sum(1).max())
        # The last token is never read.
        if positions is not None and prompt + limit > positions + 1:
            raise BridoError(
                f"a prompt of {prompt} tokens and max_length ({limit}) are more than the model's "
                f"{positions} positions: lower one of them"
            )
        shares = self.shares and share_attention(model)
        static = shares and can_replay(model, sources.ids.shape[1], limit)
        steps = PromptSteps(model, sources, limit, shares, static)
        return ReplayedSteps(steps, limit) if static else steps

    def states(
        self, model: PreTrainedModel, sources: Sources, given: Tensor, passes: int
    ) -> States:
        """See Family. Raise ArgumentError if `given` is not the prompt's last token."""
        if not torch.equal(given[:, 0], last_tokens(sources)):
            raise ArgumentError(
                "position 0 of candidate_ids must be the last token of the prompt once more"
            )
        if not (self.shares and share_attention(model)):
            return RepeatedStates(model, sources)
        # Keys and values that are kept have no gradient.
        keeps = passes > 1 and sources.ids.shape[1] > 1 and not torch.is_grad_enabled()
        return (CachedStates if keeps else PackedStates)(model, sources)


def last_tokens(sources: Sources) -> Tensor:
    """Return the last token [B] of every prompt, whichever side is padded."""
    places = torch.arange(sources.mask.shape[1], device=sources.mask.device)
    return sources.ids.gather(1, (sources.mask * places).argmax(1, keepdim=True))[:, 0]


_NAMES = ("llama", "mistral", "gpt2", "qwen2", "qwen3", "gemma3_text", "smollm3", "olmo2")
FAMILIES = tuple(map(DecoderOnly, _NAMES))


def unknown_family(config: Any) -> DecoderOnly:
    """Describe a family that is not in the table by the most careful facts, and warn.

    Raises:
        BridoError: transformers knows no causal model of this kind, or the model looks at earlier
            tokens through more than attention.
    """
    kind = config.model_type
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise BridoError(
            f"a {kind} model, which does not write text, or not from text alone: choose a "
            "summarizer or a chat model"
        )
    model = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    others = set(getattr(config.get_text_config(), "layer_types", None) or ()) - ATTENTION
    if getattr(model, "_is_stateful", False) or others:
        raise BridoError(
            f"a {kind} model, which has layers other than plain attention (recurrent, "
            "convolutional, linear). Candidates cannot share what such layers keep of a text: "
            "choose a model of attention alone, such as Llama, Qwen 3 or Gemma 3"
        )
    warnings.warn(
        f"model family {kind!r} is not one of {', '.join(_NAMES)}: every candidate gets its own "
        "copy of the prompt, which is slow",
        stacklevel=3,
    )
    return DecoderOnly(kind, shares=False)


class RepeatedStates(States):
    """The whole model with the prompt repeated for every text; what comes back are logits."""

    def __init__(self, model: PreTrainedModel, sources: Sources) -> None:
        self.model = model
        self.lengths = sources.mask.sum(1)
        order = sources.mask.argsort(dim=1, descending=True, stable=True)
        self.prompts = sources.ids.gather(1, order)

    def hidden(self, ids: Tensor, scored: Tensor) -> Tensor:
        texts, tokens = len(ids) // len(self.prompts), ids.shape[1]
        prompts = self.prompts.repeat_interleave(texts, 0)
        # A text stands right behind its prompt, whose last token is the given one. So pads come
        # last, where no token looks, and every position is what it is without padding.
        behind = self.lengths.repeat_interleave(texts)[:, None] - 1
        places = behind + torch.arange(tokens, device=ids.device)
        rows = torch.cat([prompts, torch.zeros_like(ids)], 1).scatter(1, places, ids)
        # The logits of what stands in front of all texts are of no use.
        used = rows.shape[1] - int(self.lengths.min()) + 1
        logits = self.model(input_ids=rows, use_cache=False, logits_to_keep=used).logits
        places = places - (rows.shape[1] - logits.shape[1])
        numbers = torch.arange(len(ids), device=ids.device)[:, None]
        return logits[numbers, places].flatten(0, 1)[scored]
