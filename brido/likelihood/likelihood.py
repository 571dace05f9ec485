"""f(S), the length-normalised log-likelihood of every candidate summary of a document.

Written for many candidates, with the numbers of a plain forward of the model. The source is read
once a document (`Family.states`), candidates of similar length run together, and the logits of all
tokens never exist at once (`projection`).
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from brido.likelihood.projection import of_tokens
from brido.models.arguments import as_candidates
from brido.models.family import family_of
from brido.models.interface import States
from brido.models.tokens import Sources
from brido.utils.errors import ArgumentError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


# A further pass over the decoder costs about as much as this many padded tokens, all documents
# together. On an accelerator it is the launches that cost, and tokens are cheap.
PASS_TOKENS = {"cpu": 128}
PASS_TOKENS_ACCELERATOR = 2048


class SequenceStatistics(NamedTuple):
    """Sums over the scored tokens of every candidate, each [B, N].

    log_probability: of log p(token). mean_log_probability: of the mean of log p(v) over the
    vocabulary, for label smoothing. tokens: of 1.
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

    input_ids, attention_mask [B, S]: the sources, or a decoder-only model's whole prompts, padded
    on either side. candidate_ids [B, N, T], padded at the end: position 0 holds the decoder's first
    token, or the prompt's last one once more, and is never scored. lengths [B, N]: how many tokens
    behind it are scored; None: up to the first pad, if the model's pad is not an end token.
    micro_batch: at most so many candidates of a document run at once, and again in the backward
    pass: the same gradient in less memory. The result is differentiable; the model's mode is kept.

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
    if not math.isfinite(length_penalty):
        raise ArgumentError(f"length_penalty must be finite, not {length_penalty}")
    sources, candidate_ids, lengths = as_candidates(
        model, input_ids, attention_mask, candidate_ids, lengths
    )
    statistics = sequence_statistics(
        model, sources.ids, sources.mask, candidate_ids, lengths, micro_batch
    )
    return normalized(statistics, length_penalty)


def normalized(statistics: SequenceStatistics, length_penalty: float) -> Tensor:
    """f(S) [B, N] of the sums: log_probability / tokens^length_penalty."""
    # Of whole numbers, a power with a fraction would be float32.
    tokens = statistics.tokens.to(statistics.log_probability.dtype)
    return statistics.log_probability / tokens**length_penalty


def sequence_statistics(
    model: PreTrainedModel,
    input_ids: Tensor,
    attention_mask: Tensor,
    candidate_ids: Tensor,
    lengths: Tensor,
    micro_batch: int | None = None,
) -> SequenceStatistics:
    """The sums behind f(S), of arguments that fit together: nothing is checked."""
    lengths = lengths.cpu()
    scored = torch.arange(candidate_ids.shape[2] - 1) < lengths[:, :, None]
    family, sources = family_of(model.config), Sources(input_ids, attention_mask)
    if family.one_row:  # nothing is spent on padding: as few passes as can be
        price: float = scored[0].numel()
    else:
        price = PASS_TOKENS.get(input_ids.device.type, PASS_TOKENS_ACCELERATOR) / len(scored)
    groups = group_by_length(scored, micro_batch or scored.shape[1], price)
    again = micro_batch is not None and torch.is_grad_enabled()
    states = family.states(model, sources, candidate_ids[:, 0, :1], passes=len(groups))
    sums = []
    for group in groups:
        run = partial(_group_sums, states, candidate_ids, group)
        sums.append(checkpoint(run, use_reentrant=False) if again else run())
    # Where each candidate stands among the groups: back to the candidates' own order, [B, N].
    where = torch.cat([group.members for group in groups], dim=1).argsort(1).to(input_ids.device)
    log_probability, mean = (
        torch.cat(parts, dim=1).gather(1, where) for parts in zip(*sums, strict=True)
    )
    return SequenceStatistics(log_probability, mean, lengths.to(input_ids.device))


def _group_sums(states: States, candidate_ids: Tensor, group: LengthGroup) -> tuple[Tensor, Tensor]:
    """The sums of log p(token) and of mean log p(v) of the group's candidates, each [B, n]."""
    end, places = group.length + 1, group.places.to(candidate_ids.device)
    members = group.members.to(candidate_ids.device)[:, :, None].expand(-1, -1, end)
    rows = candidate_ids[:, :, :end].gather(1, members)
    read, predicted = rows[:, :, :-1], rows[:, :, 1:]
    hidden = states.hidden(read.flatten(0, 1), places)
    of_scored = of_tokens(states, hidden, predicted.flatten()[places])
    # Back to [B, n, length], with zeros for padding.
    log_probability, mean = (
        values.new_zeros(predicted.numel()).index_copy(0, places, values).view(predicted.shape)
        for values in of_scored
    )
    return log_probability.sum(-1), mean.sum(-1)


class LengthGroup(NamedTuple):
    """Candidates that run in one pass.

    members [B, n]: which of each document's candidates; length: tokens they are cut to; places:
    where the scored tokens stand in [B, n, length], as flat indices.
    """

    members: Tensor
    length: int
    places: Tensor


def group_by_length(scored: Tensor, largest: int, price: float) -> list[LengthGroup]:
    """Groups, longest first, that hold each of N candidates of B documents exactly once.

    scored [B, N, T] says which tokens count. Every document gives the same number of candidates to
    a group, its longest to the first. The cuts minimise the padded tokens of a document plus the
    `price` of a pass (a dynamic programme over the last cut); no group takes more than `largest`
    candidates of a document.
    """
    documents, candidates, tokens = scored.shape
    lengths = (scored * torch.arange(1, tokens + 1)).amax(-1)
    order = lengths.argsort(dim=1, descending=True, stable=True)
    longest = lengths.gather(1, order).amax(0).tolist()
    # Of the first candidates, as many as the index: what their cheapest groups cost, and where the
    # last of these begins.
    cost, begins = [0.0], [0]
    for end in range(1, candidates + 1):
        cheapest, start = min(
            (cost[start] + (end - start) * longest[start] + price, start)
            for start in range(max(0, end - largest), end)
        )
        cost.append(cheapest)
        begins.append(start)
    groups: list[LengthGroup] = []
    end = candidates
    while end:
        start = begins[end]
        members, length = order[:, start:end], longest[start]
        rows = scored[torch.arange(documents)[:, None], members, :length]
        groups.append(LengthGroup(members, length, rows.flatten().nonzero()[:, 0]))
        end = start
    return groups[::-1]
