"""The token ids that steer what a model writes, as its generation_config names them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    def of(cls, model: PreTrainedModel) -> SpecialTokens:
        """The tokens of a model's generation_config, the place `generate` takes them from.

        Raises:
            BridoError: end or pad is missing, or generation_config asks for something that the
                search does not do (all problems named).
        """
        settings, pad, ends = model.generation_config, pad_token(model), end_tokens(model)
        problems = list(_problems(settings, pad, ends))
        if problems:
            raise BridoError.from_problems("this model cannot be searched:", problems)
        banned = {word[0] for word in settings.bad_words_ids or []}
        banned |= set(settings.suppress_tokens or [])
        forced = as_tuple(settings.forced_eos_token_id)
        penalty = settings.repetition_penalty
        return cls(
            ends,
            pad,
            settings.forced_bos_token_id,
            forced[0] if forced else None,
            tuple(sorted(banned - set(ends))),
            1.0 if penalty is None else float(penalty),
        )


def _problems(settings: Any, pad: int | None, ends: tuple[int, ...]) -> Iterator[str]:
    for name, neutral in _UNSUPPORTED.items():
        if getattr(settings, name, None) not in neutral:
            value = getattr(settings, name)
            yield f"generation_config.{name} = {quoted(value)} is not supported: remove it"
    for name, found in (("eos_token_id", ends), ("pad_token_id", as_tuple(pad))):
        if not found:
            value = quoted(getattr(settings, name))
            yield f"generation_config.{name} = {value}: a token id is needed"
    named = {"eos_token_id": ends, "pad_token_id": as_tuple(pad)}
    for name in ("forced_bos_token_id", "forced_eos_token_id", "suppress_tokens"):
        named[name] = as_tuple(getattr(settings, name))
    for name, found in named.items():
        if any(type(token) is not int for token in found):
            yield f"generation_config.{name} = {quoted(found)}: token ids are whole numbers"
    penalty = settings.repetition_penalty
    if penalty is not None and not penalty > 0:
        yield f"generation_config.repetition_penalty = {quoted(penalty)} must be above 0"
    for word in settings.bad_words_ids or []:
        if len(word) != 1:
            yield (
                f"generation_config.bad_words_ids holds {quoted(word)}: only single tokens can be "
                "banned"
            )
    forced = as_tuple(settings.forced_eos_token_id)
    if len(forced) > 1 or not set(forced) <= set(ends):
        yield (
            f"generation_config.forced_eos_token_id ({quoted(settings.forced_eos_token_id)}) is "
            f"not one token of eos_token_id ({quoted(settings.eos_token_id)})"
        )


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
    pad = model.config.pad_token_id if pad is None else pad
    if pad is None and not model.config.is_encoder_decoder:
        return next(iter(end_tokens(model)), None)
    return pad


def end_tokens(model: PreTrainedModel) -> tuple[int, ...]:
    """Every token that ends a text of a model."""
    ends = as_tuple(model.generation_config.eos_token_id)
    return ends or as_tuple(model.config.eos_token_id)
