"""f(S), the length-normalised log-likelihood of every candidate summary of a document.

Written for training with many candidates. The source is read once a document, and all candidates
share what is computed from it where the model can (`Family.states`). The vocabulary projection runs
in chunks that are computed again in the backward pass (`projection.py`). Candidates run in groups
of similar length (`length_groups`). Every shortcut leaves each number what a plain forward of the
model gives.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from brido.likelihood.length_groups import LengthGroup, group_by_length
from brido.likelihood.projection import token_log_probability
from brido.models.arguments import as_ids, as_sources, as_whole_numbers
from brido.models.family import family_of
from brido.models.interface import Head, States
from brido.models.special_tokens import end_tokens, pad_token
from brido.models.tokens import Sources
from brido.utils.arguments import as_number
from brido.utils.errors import ArgumentError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class SequenceStatistics(NamedTuple):
    """Sums over the scored tokens of every candidate, each [B, N].

    log_probability: of log p(token); mean_log_probability: of the mean of log p(v) over the
    vocabulary (for label smoothing); tokens: how many tokens were scored.
    """

    log_probability: Tensor
    mean_log_probability: Tensor
    tokens: Tensor


def candidate_log_likelihood(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    candidate_ids: Tensor,
    length_penalty: float,
    lengths: Tensor | None = None,
    micro_batch: int | None = None,
) -> Tensor:
    """f(S) of every candidate, [B, N] in nats: sum of log p over (number of tokens)^length_penalty.

    input_ids and attention_mask [B, S] are the sources, candidate_ids [B, N, T] the candidates with
    the decoder's first token at position 0, padded at the end. For a decoder-only model the sources
    are whole prompts, padded on either side, and position 0 is the prompt's last token once more.
    Position 0 is never scored; lengths [B, N] says how many tokens behind it are. None means up to
    the first pad behind position 0, if the model's pad is not an end token. The result is
    differentiable; the model's train or eval mode is used and kept. With `micro_batch` at most that
    many candidates of a document run at once and their activations are computed again in the
    backward pass: the same gradient in less memory (a prompt is then read once a micro-batch).

    Arrays and lists of tokens become tensors on the model's device.

    Raises:
        ArgumentError: see `brido.models.arguments`; shapes that do not fit, no candidates, lengths
            that are missing, not whole numbers, or longer than the candidates or than the model's
            positions, a candidate without a token to score, or one that does not begin with the
            prompt's last; a `micro_batch` that is not a positive whole number.

    Example:
        >>> tokens = tokenizer(["A document."], return_tensors="pt")
        >>> written = tokenizer(["One candidate.", "Another."], padding=True, return_tensors="pt")
        >>> start = torch.full((2, 1), model.config.decoder_start_token_id)
        >>> candidates = torch.cat([start, written.input_ids], 1)[None]  # [1, 2, T]
        >>> candidate_log_likelihood(
        ...     model, tokens.input_ids, tokens.attention_mask, candidates, length_penalty=1.0
        ... ).shape
        torch.Size([1, 2])
    """
    if not math.isfinite(as_number("length_penalty", length_penalty)):
        raise ArgumentError(f"length_penalty must be finite, not {length_penalty}")
    sources, candidate_ids, lengths = checked(
        model, input_ids, attention_mask, candidate_ids, lengths, micro_batch
    )
    statistics = sequence_statistics(
        model, sources.ids, sources.mask, candidate_ids, lengths, micro_batch
    )
    return normalized(statistics, length_penalty)


def checked(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    candidate_ids: Tensor,
    lengths: Tensor | None,
    micro_batch: int | None,
) -> tuple[Sources, Tensor, Tensor]:
    """Sources, candidates [B, N, T] and lengths [B, N] of these arguments.

    Raises:
        ArgumentError: see `candidate_log_likelihood`.
    """
    sources = as_sources(model, input_ids, attention_mask)
    candidate_ids = as_ids("candidate_ids", candidate_ids, model)
    shape = list(candidate_ids.shape)
    if len(shape) != 3 or shape[0] != len(sources.ids) or not shape[1]:
        raise ArgumentError(
            f"candidate_ids {shape} must be [documents, candidates, tokens], with as many "
            f"documents as input_ids, {len(sources.ids)}, and at least one candidate"
        )
    if (candidate_ids[:, :, :1] != candidate_ids[:, :1, :1]).any():
        raise ArgumentError(
            "position 0 of candidate_ids must be the same for all candidates of a document, "
            "because it is given and not scored: put the decoder's start token (or the prompt's "
            "last) there"
        )
    if micro_batch is not None and (type(micro_batch) is not int or micro_batch < 1):
        raise ArgumentError(f"micro_batch must be a positive whole number, not {micro_batch!r}")
    if lengths is None:
        lengths = _up_to_the_first_pad(model, candidate_ids)
    lengths = as_whole_numbers("lengths", lengths).cpu()
    if list(lengths.shape) != shape[:2] or lengths.max() >= shape[2]:
        raise ArgumentError(
            f"lengths {list(lengths.shape)} must be [documents, candidates] and count at most the "
            f"{shape[2] - 1} tokens behind position 0 of candidate_ids {shape}"
        )
    empty = (lengths < 1).nonzero().tolist()
    if empty:
        document, candidate = empty[0]
        raise ArgumentError(f"candidate {candidate} of document {document} has no token to score")
    _check_positions(model, sources.mask, lengths)
    return sources, candidate_ids, lengths


def normalized(statistics: SequenceStatistics, length_penalty: float) -> Tensor:
    """f(S) [B, N] of the sums: log_probability / tokens^length_penalty."""
    return statistics.log_probability / statistics.tokens**length_penalty


def sequence_statistics(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    candidate_ids: Tensor,
    lengths: Tensor | None = None,
    micro_batch: int | None = None,
) -> SequenceStatistics:
    """The sums behind `candidate_log_likelihood`, of arguments that fit together.

    Nothing is checked: on an accelerator a look at tokens is a wait.
    """
    if lengths is None:
        lengths = _up_to_the_first_pad(model, candidate_ids)
    lengths = lengths.cpu()
    scored = torch.arange(candidate_ids.shape[2] - 1) < lengths[:, :, None]
    family, sources = family_of(model.config), Sources(input_ids, attention_mask)
    groups = group_by_length(scored, micro_batch, input_ids.device.type, family.packs)
    recompute = micro_batch is not None and torch.is_grad_enabled()
    parts = []
    with family.states(model, sources, candidate_ids[:, 0, :1], len(groups)) as states:
        for group in groups:
            run = partial(_group_sums, states, _rows(candidate_ids, group), group)
            parts.append(checkpoint(run, use_reentrant=False) if recompute else run())
    # The place of each candidate among the groups: back into the order of candidate_ids.
    where = torch.cat([group.members for group in groups], dim=1).argsort(1).to(input_ids.device)
    sums = [torch.cat(tensors, dim=1).gather(1, where) for tensors in zip(*parts, strict=True)]
    return SequenceStatistics(sums[0], sums[1], lengths.to(input_ids.device))


def _up_to_the_first_pad(model: PreTrainedModel, candidate_ids: Tensor) -> Tensor:
    pad = pad_token(model)
    if pad is None or pad in end_tokens(model):
        raise ArgumentError(
            f"this model's pad token ({pad}) does not show where a candidate ends: give lengths "
            "[documents, candidates], the numbers of scored tokens"
        )
    return (candidate_ids[:, :, 1:] != pad).long().cumprod(-1).sum(-1)


def _check_positions(model: PreTrainedModel, attention_mask: Tensor, lengths: Tensor) -> None:
    """Raise ArgumentError if the model has too few positions; the last token is never read."""
    positions = family_of(model.config).positions(model.config)
    given = 0 if model.config.is_encoder_decoder else int(attention_mask.sum(1).max()) - 1
    if positions is not None and given + int(lengths.max()) > positions:
        raise ArgumentError(
            f"candidates of {int(lengths.max())} tokens are more than the model's {positions} "
            f"positions allow{f' behind prompts of {given + 1} tokens' if given else ''}"
        )


def _rows(candidate_ids: Tensor, group: LengthGroup) -> Tensor:
    """Return the group's part of candidate_ids, [B, n, length + 1]."""
    members = group.members.to(candidate_ids.device)
    return candidate_ids[:, :, : group.length + 1].gather(
        1, members[:, :, None].expand(-1, -1, group.length + 1)
    )


def _group_sums(states: States, rows: Tensor, group: LengthGroup) -> tuple[Tensor, Tensor]:
    """Return the sums of log p(token) and of mean log p(v), each [B, n]."""
    scored = group.scored.to(rows.device)
    targets = rows[:, :, 1:].flatten()[scored]
    hidden = states.hidden(rows[:, :, :-1].flatten(0, 1), scored)
    tokens = _token_sums(hidden, states.head, targets)
    shape = rows[:, :, 1:].shape
    log_probability, mean = (
        token.new_zeros(shape.numel()).index_copy(0, scored, token).view(shape).sum(-1)
        for token in tokens
    )
    return log_probability, mean


def _token_sums(hidden: Tensor, head: Head | None, targets: Tensor) -> tuple[Tensor, Tensor]:
    """log p and mean log p of the scored tokens, each [number of scored tokens]."""
    if head is not None:
        return token_log_probability(hidden, head.weight, head.bias, targets)
    logits = hidden.to(torch.promote_types(hidden.dtype, torch.float32)).log_softmax(-1)
    return logits.gather(1, targets[:, None])[:, 0], logits.mean(-1)
