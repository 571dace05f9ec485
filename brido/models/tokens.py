"""Token ids: documents and texts as a model reads and writes them, and what steers its writing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from brido.utils.errors import BridoError, quoted

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# What generation_config may hold and the search does not do: refused, never ignored.
_UNSUPPORTED = {
    "encoder_repetition_penalty": (None, 1.0),
    "encoder_no_repeat_ngram_size": (None, 0),
    "exponential_decay_length_penalty": (None,),
    "sequence_bias": (None,),
    "begin_suppress_tokens": (None,),
    "guidance_scale": (None, 1, 1.0),
    "force_words_ids": (None,),
    "constraints": (None,),
    "forced_decoder_ids": (None,),
    "renormalize_logits": (None, False),
    "stop_strings": (None,),
    "watermarking_config": (None,),
}


class Sources(NamedTuple):
    """B documents as a model reads them.

    ids, mask [B, S] int64, padded; mask is 1 where a token is. cut: the places of the documents
    that were longer than the limit.
    """

    ids: Tensor
    mask: Tensor
    cut: tuple[int, ...] = ()

    def take(self, places: Sequence[int]) -> Sources:
        """The documents at `places`, without columns that only others needed; `cut` stays behind"""
        ids, mask = self.ids[list(places)], self.mask[list(places)]
        used = mask.any(0)
        return Sources(ids[:, used], mask[:, used])

    def to(self, device: torch.device) -> Sources:
        """The same documents on `device`."""
        return self._replace(ids=self.ids.to(device), mask=self.mask.to(device))


class Targets(NamedTuple):
    """N texts of each of B documents as a model writes them.

    ids [B, N, T] int64, padded at the end; position 0 is given and never scored. lengths [B, N]:
    how many tokens behind it are scored.
    """

    ids: Tensor
    lengths: Tensor


def padded(rows: Sequence[Sequence[int]], value: Any, length: int | None = None) -> Tensor:
    """Rows as one int64 tensor [R, length], filled up with `value`; None is the longest row's."""
    width = max(map(len, rows)) if length is None else length
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows])


def spells_only(tokenizer: Any, entries: int) -> bool:
    """Whether a model with that many embeddings has all of a tokenizer's words, if not all of its
    control tokens.

    Summarizers made of BART lack its `<mask>`, and Gemma 3 without images the token of an image.
    """
    return set(range(entries, len(tokenizer))) <= set(tokenizer.added_tokens_decoder)


def left_padded(sources: Sources) -> tuple[Tensor, Tensor]:
    """ids and mask [B, S] with all pads in front, as many columns as the longest prompt has.

    Raises:
        BridoError: a prompt is empty.
    """
    lengths = sources.mask.sum(1)
    if not bool(lengths.min()):
        raise BridoError("a prompt is empty: it needs at least one token")
    # A stable sort keeps the tokens in their order.
    mask, order = sources.mask.sort(dim=1, stable=True)
    longest = int(lengths.max())
    return sources.ids.gather(1, order)[:, -longest:], mask[:, -longest:]


@dataclass(frozen=True)
class SpecialTokens:
    """Tokens of a model and its repetition penalty.

    ends: every token that ends a text, the first of them in the model's own order. forced_first and
    forced_last: what must be written first, and at the maximum length. banned: never written.
    repetition_penalty: factor on the (negative) score of tokens that were written before, as in
    transformers; 1 is none.
    """

    ends: tuple[int, ...]
    pad: int
    forced_first: int | None = None
    forced_last: int | None = None
    banned: tuple[int, ...] = ()
    repetition_penalty: float = 1.0

    @classmethod
    def of(cls, model: PreTrainedModel, start: int | None = None) -> SpecialTokens:
        """The tokens of a model's generation_config, the place `generate` takes them from.

        start: the token that writing starts from, if the model has one; it is checked alone.

        Raises:
            BridoError: end or pad is missing, a token is not in the model's vocabulary, or
                generation_config asks for something that the search does not do (all problems
                named).
        """
        settings, pad, ends = model.generation_config, pad_token(model), end_tokens(model)
        embeddings: Any = model.get_input_embeddings()
        named = {
            "eos_token_id": ends,
            "pad_token_id": as_tuple(pad),
            "decoder_start_token_id": as_tuple(start),
            "forced_bos_token_id": as_tuple(settings.forced_bos_token_id),
            "forced_eos_token_id": as_tuple(settings.forced_eos_token_id),
            "suppress_tokens": as_tuple(settings.suppress_tokens),
            "bad_words_ids": tuple(
                token for word in as_tuple(settings.bad_words_ids) for token in as_tuple(word)
            ),
        }
        problems = list(_problems(settings, named, embeddings.num_embeddings))
        if problems or pad is None:
            raise BridoError.from_problems("this model cannot be searched:", problems)
        # transformers never bans an end as a bad word; one that it shall suppress it does.
        banned = {word[0] for word in settings.bad_words_ids or []} - set(ends)
        banned |= set(as_tuple(settings.suppress_tokens))
        forced = as_tuple(settings.forced_eos_token_id)
        # It forces a first token behind a single one: a start token, never a prompt.
        starts = model.config.is_encoder_decoder
        penalty = settings.repetition_penalty
        return cls(
            ends,
            pad,
            settings.forced_bos_token_id if starts else None,
            forced[0] if forced else None,
            tuple(sorted(banned)),
            1.0 if penalty is None else float(penalty),
        )


def _problems(settings: Any, named: dict[str, tuple[Any, ...]], size: int) -> Iterator[str]:
    """What a search cannot do with a generation_config; named: the tokens of each of its settings,
    size: how many tokens the model knows."""
    for name, neutral in _UNSUPPORTED.items():
        value = getattr(settings, name, None)
        if value not in (*neutral, [], {}):  # an empty list asks for nothing
            yield f"generation_config.{name} = {quoted(value)} is not supported: remove it"
    for name, found in named.items():
        known = all(type(token) is int and 0 <= token < size for token in found)
        if not known or (not found and name in ("eos_token_id", "pad_token_id")):
            yield (
                f"generation_config.{name} = {quoted(found)}: token ids are needed, whole numbers "
                f"from 0 to {size - 1}"
            )
    penalty, words = settings.repetition_penalty, as_tuple(settings.bad_words_ids)
    if penalty is not None and not 0 < penalty < math.inf:
        yield f"generation_config.repetition_penalty = {penalty}: a number above 0 is needed"
    if any(len(as_tuple(word)) != 1 for word in words):
        listed = quoted(settings.bad_words_ids)
        yield f"generation_config.bad_words_ids = {listed}: only single tokens can be banned"
    forced = named["forced_eos_token_id"]
    if len(forced) > 1 or not set(forced) <= set(named["eos_token_id"]):
        yield f"generation_config.forced_eos_token_id = {quoted(forced)} is not one of eos_token_id"


def as_tuple(tokens: int | list[int] | None) -> tuple[int, ...]:
    """One token, several or none, as generation_config holds them, as a tuple."""
    if tokens is None:
        return ()
    return tuple(tokens) if isinstance(tokens, (list, tuple)) else (tokens,)


def pad_token(model: PreTrainedModel) -> int | None:
    """The token that fills up what a model has written; None where it names none.

    Many decoder-only models have none: they fill up with their (first) end.
    """
    pad = model.generation_config.pad_token_id
    # Settings of models that see images, and some of old ones, do not have these names at all.
    pad = getattr(model.config, "pad_token_id", None) if pad is None else pad
    if pad is None and not model.config.is_encoder_decoder:
        return next(iter(end_tokens(model)), None)
    return pad


def end_tokens(model: PreTrainedModel) -> tuple[int, ...]:
    """Every token that ends a text of a model."""
    ends = as_tuple(model.generation_config.eos_token_id)
    return ends or as_tuple(getattr(model.config, "eos_token_id", None))
