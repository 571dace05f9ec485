"""Special tokens of a model, tokens banned at a step, and the best tokens of every row."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from transformers import PreTrainedModel

from brido.errors import BridoError
from brido.search import selection

# What generation_config may hold and this search does not do: refused, never ignored.
_UNSUPPORTED = {
    "repetition_penalty": (None, 1.0),
    "encoder_repetition_penalty": (None, 1.0),
    "encoder_no_repeat_ngram_size": (None, 0),
    "min_new_tokens": (None,),
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
    """The token ids that steer generation; `forced_*` and `banned` may be absent."""

    start: int
    end: int
    pad: int
    forced_first: int | None
    forced_last: int | None
    banned: tuple[int, ...]

    @classmethod
    def of(cls, model: PreTrainedModel) -> SpecialTokens:
        """The tokens of a model's generation_config, the place `generate` takes them from.

        Raises:
            BridoError: start, end or pad is missing or several ends are given, or generation_config
                asks for something that this search does not do (all problems named).
        """
        settings = model.generation_config
        problems = [
            f"generation_config.{name} = {getattr(settings, name)!r} is not supported: remove it"
            for name, neutral in _UNSUPPORTED.items()
            if getattr(settings, name, None) not in neutral
        ]
        start = settings.decoder_start_token_id
        start = settings.bos_token_id if start is None else start
        found = {
            "decoder_start_token_id": start,
            "eos_token_id": _single(settings.eos_token_id),
            "pad_token_id": settings.pad_token_id,
        }
        problems += [
            f"generation_config.{name} = {getattr(settings, name)!r}: one token id is needed"
            for name, value in found.items()
            if value is None
        ]
        bad_words = settings.bad_words_ids or []
        problems += [
            f"generation_config.bad_words_ids holds {word}: only single tokens can be banned"
            for word in bad_words
            if len(word) != 1
        ]
        forced_last = _single(settings.forced_eos_token_id)
        if forced_last not in (None, found["eos_token_id"]):
            problems.append(
                f"generation_config.forced_eos_token_id ({forced_last}) is not eos_token_id "
                f"({found['eos_token_id']})"
            )
        if problems:
            raise BridoError.from_problems("this model cannot be searched:", problems)
        banned = {word[0] for word in bad_words} | set(settings.suppress_tokens or [])
        return cls(
            *found.values(),
            forced_first=settings.forced_bos_token_id,
            forced_last=forced_last,
            banned=tuple(sorted(banned - {found["eos_token_id"]})),
        )


def _single(token: int | list[int] | None) -> int | None:
    if isinstance(token, list):
        return token[0] if len(token) == 1 else None
    return token


def ban_tokens(
    log_probabilities: torch.Tensor,
    history: torch.Tensor,
    special: SpecialTokens,
    min_length: int,
    no_repeat_ngram_size: int,
) -> torch.Tensor:
    """`log_probabilities` [R, V], changed in place: -inf for every token a row may not take next.

    history: [R, t] the tokens of each row so far, the start token included. The end token is banned
    below `min_length` tokens, and so is each token that would complete an n-gram a second time.
    """
    length = history.shape[1]
    if length < min_length:
        log_probabilities[:, special.end] = -torch.inf
    if special.banned:
        log_probabilities[:, list(special.banned)] = -torch.inf
    if 0 < no_repeat_ngram_size <= length:
        windows = history.unfold(1, no_repeat_ngram_size, 1)
        prefix = history[:, length - no_repeat_ngram_size + 1 :]
        repeats = (windows[:, :, :-1] == prefix[:, None, :]).all(-1)
        # Added, not assigned: the same token may appear here both as banned and as not banned.
        ban = torch.zeros_like(repeats, dtype=log_probabilities.dtype)
        ban = ban.masked_fill_(repeats, -torch.inf)
        log_probabilities.scatter_add_(1, windows[:, :, -1], ban)
    return log_probabilities


def row_top_k(values: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The `k` largest values of each row of [R, V], in order, and their columns: both [R, k].

    Exact; at most V columns are returned.
    """
    k = min(k, values.shape[1])
    if values.device.type != "cpu":
        return top_k_of_lanes(values, k)
    # A row of NaN has no largest value: it gets NaN and the first column.
    best = values.new_full((len(values), k), torch.nan)
    columns = torch.zeros(len(values), k, dtype=torch.long)
    selection.top_k(values.contiguous().numpy(), best.numpy(), columns.numpy())
    return best, columns


def top_k_of_lanes(values: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """`row_top_k` in PyTorch's operators.

    A long row is cut into lanes first: the k largest values lie in the k lanes with the largest
    maxima, so only those are searched (the maxima cost one pass, a top-k over V several).
    """
    rows, size = values.shape
    depth = selection.DEPTH
    lanes = size // depth
    if lanes < 2 * k:
        return values.topk(k, dim=1)
    # Lane j holds columns j, j + lanes, j + 2 lanes, ...: the maximum runs over whole vectors.
    main = values[:, : lanes * depth].view(rows, depth, lanes)
    best = main.amax(1).topk(k, dim=1, sorted=False).indices
    found = main.gather(2, best[:, None, :].expand(-1, depth, -1)).flatten(1)
    columns = (torch.arange(depth, device=values.device)[:, None] * lanes)[None] + best[:, None, :]
    columns = columns.flatten(1)
    if lanes * depth < size:
        rest = torch.arange(lanes * depth, size, device=values.device).expand(rows, -1)
        found = torch.cat([found, values[:, lanes * depth :]], dim=1)
        columns = torch.cat([columns, rest], dim=1)
    top, where = found.topk(k, dim=1)
    return top, columns.gather(1, where)
