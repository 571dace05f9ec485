"""Encoder-decoders: what BRIDO has to know about each family of them, in one table."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from transformers import AutoModelForSeq2SeqLM, PreTrainedModel

from brido.models.chats import pieces_of
from brido.models.decoder_steps import PlainSteps, SharedSteps
from brido.models.interface import Family, Head, ModelParts, States, Steps, Texts, positions_in
from brido.models.prompt import Prompt, encoded
from brido.models.replay import ReplayedSteps, can_replay
from brido.models.sharing.attention import (
    PlainStates,
    RepeatingStates,
    SharingStates,
    share_attention,
)
from brido.models.tokens import Sources, SpecialTokens, padded
from brido.utils.errors import BridoError


@dataclass(frozen=True)
class EncoderPrompt(Prompt):
    """What an encoder reads: text around the document, with the tokens that its tokenizer puts
    around any text. spelled: a control token that a document spells is read as one."""

    spelled: bool = False
    _special_only = True

    def tokens(self, document: str) -> tuple[list[int], list[int]]:
        """See Prompt; the tokenizer's own tokens are among them."""
        text, fast = self.plain(document).join(self.pieces), self.tokenizer.is_fast
        row = encoded(self.tokenizer, text, return_offsets_mapping=fast)
        return row.input_ids, [end for _, end in row.offset_mapping] if fast else []

    def fit_all(self, documents: Sequence[str], limit: int) -> tuple[list[list[int]], list[int]]:
        """See Prompt."""
        documents = [self.plain(document) for document in documents]
        if self.pieces[1:] != ("",):
            return super().fit_all(documents, limit)
        # The text ends with the document: the tokenizer cuts it, all documents at once.
        texts = [self.pieces[0] + document for document in documents]
        rows = encoded(self.tokenizer, texts, truncation=True, max_length=limit).input_ids
        # Special tokens stand at the end of a cut text too, so its length alone says nothing.
        full = [place for place, ids in enumerate(rows) if len(ids) == limit]
        every = [texts[place] for place in full]
        whole = encoded(self.tokenizer, every).input_ids if full else []
        return rows, [place for place, ids in zip(full, whole, strict=True) if len(ids) > limit]

    @property
    def _cuts_inside(self) -> bool:  # type: ignore[override]
        return self.pieces[1:] != ("",)

    def plain(self, text: str) -> str:
        """A document, or a text, without the control tokens that it spells."""
        return text if self.spelled else self.plain_text.spaced(text)


@dataclass(frozen=True)
class EncoderDecoder(Family):
    """Facts about one family of encoder-decoders.

    shares: for that the decoder reaches attention through transformers' interface alone, takes the
    batch size of the source's keys from the encoder states, and a mask of four dimensions as it is.
    projects: logits are what the output layer makes of the decoder's states, and no more but
    `final_logits_bias`. scaled_if: the setting with which those states are divided by the root of
    their width first.
    """

    loader: ClassVar[Any] = AutoModelForSeq2SeqLM
    model_type: str
    shares: bool = True
    has_positions: bool = True
    projects: bool = True
    scaled_if: str | None = None
    newline: str | None = None
    started: ClassVar[int] = 1

    def special(self, model: PreTrainedModel) -> SpecialTokens:
        return SpecialTokens.of(model, start_token(model))

    def prompt(self, parts: ModelParts) -> EncoderPrompt:
        """See Family: `reading.prompt`, or the prefix that the model itself was trained with.

        `{{ document }}` as the prompt does without that.
        """
        if parts.reading.prompt is not None:
            return EncoderPrompt(parts.tokenizer, pieces_of(parts.reading.prompt))
        tasks = getattr(parts.model.config, "task_specific_params", None)
        return EncoderPrompt(parts.tokenizer, (own_prefix(tasks), ""))

    def read(self, parts: ModelParts, documents: Sequence[str]) -> Sources:
        """See Family: what the tokenizer makes of documents, inside the prompt if there is one.

        Line breaks are spaces: these models learned from texts of one line.
        """
        tokenizer, limit = parts.tokenizer, parts.reading.max_source_tokens
        documents = [document.replace("\n", " ") for document in documents]
        rows, cut = parts.prompt.fit_all(documents, limit)
        embeddings: Any = parts.model.get_input_embeddings()
        rows = _known(rows, embeddings.num_embeddings, tokenizer.unk_token_id)
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
        flat = [parts.prompt.plain_text.spaced(text) for row in texts for text in row]
        how = {"text_target": flat, "truncation": True, "max_length": limit}
        rows = encoded(parts.tokenizer, None, **how)["input_ids"]
        words = len(parts.model.get_output_embeddings().weight)
        rows = _known(rows, words, parts.tokenizer.unk_token_id)
        if parts.reading.decoder_prefix == "brio" and begin is not None:
            return [ids if ids[:1] == [begin] else [start, *ids] for ids in rows]
        return [[start, *ids] for ids in rows]

    def problems(self, parts: ModelParts) -> Iterator[str]:
        for key in ("system", "template"):
            if getattr(parts.reading, key):
                yield (
                    f"reading.{key} is for chat models: this one reads plain text. Remove it, or "
                    "put it into reading.prompt"
                )
        try:
            self.prompt(parts).check(parts.reading.max_source_tokens)
        except BridoError as error:
            yield str(error)

    def steps(self, model: PreTrainedModel, sources: Sources, limit: int) -> Steps:
        positions = self.written_positions(model.config)
        # The last token is never read.
        if positions is not None and limit > positions + 1:
            raise BridoError(
                f"max_length ({limit}) is more than the model's {positions} positions allow: "
                "lower it"
            )
        states, given = self.encode(model, sources), (start_token(model),)
        if self.shares and share_attention(model):
            static = can_replay(model, 0, limit)
            steps = SharedSteps(model, states, sources.mask, given, limit, static)
            return ReplayedSteps(steps, limit) if static else steps
        return PlainSteps(model, states, (sources.mask > 0).long(), given)

    def states(
        self, model: PreTrainedModel, sources: Sources, given: Tensor, passes: int
    ) -> States:
        states, mask = self.encode(model, sources), sources.mask
        if not self.projects:
            return PlainStates(model, states, (mask > 0).long())
        bias = getattr(model, "final_logits_bias", None)
        head = Head(model.get_output_embeddings().weight, None if bias is None else bias[0])
        if not (self.shares and share_attention(model)):
            scaled = self.scaled_if is not None and getattr(model.config, self.scaled_if)
            scale = model.config.d_model**-0.5 if scaled else 1.0
            return RepeatingStates(model, states, (mask > 0).long(), head, scale)
        # transformers' layer checkpoints drop caches: with them each pass projects the source.
        again = (
            model.training
            and torch.is_grad_enabled()
            and any(getattr(module, "gradient_checkpointing", False) for module in model.modules())
        )
        return SharingStates(model, states, mask, head, None if again or passes == 1 else given)

    def written_positions(self, config: Any) -> int | None:
        return positions_in(config, "decoder") if self.has_positions else None

    def encode(self, model: PreTrainedModel, sources: Sources) -> Tensor:
        """The encoder's states [B, S, D] of sources."""
        encoder: Any = model.get_encoder()
        states: Tensor = encoder(input_ids=sources.ids, attention_mask=sources.mask)[0]
        return states


FAMILIES = (
    EncoderDecoder("bart"),
    EncoderDecoder("mbart"),
    EncoderDecoder("marian"),
    EncoderDecoder("pegasus", newline="<n>"),
    EncoderDecoder("t5", False, has_positions=False, scaled_if="scale_decoder_outputs"),
    EncoderDecoder("mt5", False, has_positions=False),
    EncoderDecoder("umt5", False, has_positions=False, scaled_if="tie_word_embeddings"),
)


def unknown_family(config: Any) -> EncoderDecoder:
    """Describe a family that is not in the table by the most careful facts, and warn."""
    model_type, known = config.model_type, ", ".join(family.model_type for family in FAMILIES)
    warnings.warn(
        f"model family {model_type!r} is not one of {known}: every beam gets its own copy of the "
        "source's keys and values, which is slow",
        stacklevel=3,
    )
    # T5's kin know distances alone; LongT5 also puts tokens together in blocks from the first on.
    relative = hasattr(config, "relative_attention_num_buckets")
    positions = not relative or hasattr(config, "encoder_attention_type")
    return EncoderDecoder(
        model_type,
        shares=False,
        projects=False,
        has_positions=positions,
        # PEGASUS-X has PEGASUS's tokenizer.
        newline="<n>" if "pegasus" in model_type else None,
    )


def start_token(model: PreTrainedModel) -> int:
    """The token that writing starts from. Raise BridoError if the model does not name one."""
    own = model.generation_config
    named = getattr(model.config, "decoder_start_token_id", None)
    for token in (own.decoder_start_token_id, named, own.bos_token_id):
        if token is not None:
            return token
    raise BridoError(
        "this model cannot be searched: its generation_config lacks decoder_start_token_id"
    )


def _known(rows: list[list[int]], entries: int, unknown: int) -> list[list[int]]:
    """Rows of tokens in which those that the model has no embedding of are the unknown one."""
    return [[token if token < entries else unknown for token in row] for row in rows]


def own_prefix(tasks: Any) -> str:
    """What `task_specific_params` of a model's settings put in front of a document; "" if nothing.

    T5's settings name a prefix for each task, which transformers' summarization pipeline put in
    front of a document. Strangers write anything there.
    """
    task = tasks.get("summarization") if isinstance(tasks, dict) else None
    prefix = task.get("prefix") if isinstance(task, dict) else None
    return prefix if isinstance(prefix, str) else ""
