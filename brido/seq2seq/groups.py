"""One step of beam search on log-probabilities: which tokens every group of beams takes next.

Diverse beam search (Vijayakumar et al., 2018) works through the groups in order; a token costs a
group `diversity_penalty` for each beam of an earlier group that takes it at the same step.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass
class Choice:
    """What one step found, G groups of S beams: C = 2S candidates a group, best first.

    Candidates: scores, tokens, beams [B, G, C]; `beams` counts the rows of a document, 0 to N - 1.
    Next beams: next_scores, next_tokens, next_beams [B, G, S], the best candidates that go on.
    """

    scores: torch.Tensor
    tokens: torch.Tensor
    beams: torch.Tensor
    next_scores: torch.Tensor
    next_tokens: torch.Tensor
    next_beams: torch.Tensor


def choose(
    values: torch.Tensor,
    tokens: torch.Tensor,
    running: torch.Tensor,
    done: torch.Tensor,
    diversity_penalty: float,
    end: int,
    pad: int,
) -> Choice:
    """The candidates and the next beams of every group.

    values, tokens: [B, N, K] the best K = N + 1 log-probabilities of each row, best first. K is
    enough: a group loses at most N - S tokens to the penalty, and takes at most S others and the
    end token from one row. running: [B, N] scores of the beams so far. done: [B, G] finished
    groups; they take `pad` with score 0, and their pads do count in the penalty.
    """
    beams = values.shape[1]
    groups = done.shape[1]
    if groups == 1 or diversity_penalty == 0:
        size = beams // groups
        pieces = [
            _choose_group(values, tokens, running, g * size, size, end) for g in range(groups)
        ]
        return _finish(pieces, done, pad)
    if groups == beams and not values.is_cuda:
        return _choose_single_beams(values, tokens, running, done, diversity_penalty, end, pad)
    return _choose_in_turn(values, tokens, running, done, diversity_penalty, end, pad)


def _choose_group(
    values: torch.Tensor,
    tokens: torch.Tensor,
    running: torch.Tensor,
    first: int,
    size: int,
    end: int,
) -> tuple[torch.Tensor, ...]:
    """Candidates and next beams of the group of `size` rows from row `first`, penalty included."""
    rows = slice(first, first + size)
    top_k = values.shape[2]
    scores = values[:, rows] + running[:, rows, None]
    scores, where = scores.flatten(1).topk(min(2 * size, size * top_k), dim=1)
    found = tokens[:, rows].flatten(1).gather(1, where)
    beams = first + where.div(top_k, rounding_mode="floor")
    # A stable sort moves the candidates that end behind those that go on.
    going_on = (found == end).to(torch.uint8).argsort(dim=1, stable=True)[:, :size]
    following = (part.gather(1, going_on) for part in (scores, found, beams))
    return scores, found, beams, *following


def _finish(pieces: list[tuple[torch.Tensor, ...]], done: torch.Tensor, pad: int) -> Choice:
    """The groups' results side by side, finished groups padded."""
    choice = Choice(*(torch.stack(parts, dim=1) for parts in zip(*pieces, strict=True)))
    choice.next_tokens = choice.next_tokens.masked_fill(done[:, :, None], pad)
    choice.next_scores = choice.next_scores.masked_fill(done[:, :, None], 0.0)
    return choice


def _choose_in_turn(
    values: torch.Tensor,
    tokens: torch.Tensor,
    running: torch.Tensor,
    done: torch.Tensor,
    penalty: float,
    end: int,
    pad: int,
) -> Choice:
    """The groups one after the other, as the method is written down."""
    groups = done.shape[1]
    size = values.shape[1] // groups
    values = values.clone()
    taken = tokens.new_empty(values.shape[0], 0)
    pieces = []
    for group in range(groups):
        rows = slice(group * size, group * size + size)
        if group:
            frequency = (tokens[:, rows, :, None] == taken[:, None, None, :]).sum(-1)
            values[:, rows] -= penalty * frequency
        pieces.append(_choose_group(values, tokens, running, group * size, size, end))
        now = pieces[-1][4].masked_fill(done[:, group, None], pad)
        taken = torch.cat([taken, now], dim=1)
    return _finish(pieces, done, pad)


def _choose_single_beams(
    values: torch.Tensor,
    tokens: torch.Tensor,
    running: torch.Tensor,
    done: torch.Tensor,
    penalty: float,
    end: int,
    pad: int,
) -> Choice:
    """`_choose_in_turn` for groups of one beam, all groups at once.

    Guess every group's token, let each group choose again under the penalties of the guess, until
    nothing changes. Group g is right once the groups before it are, so at most N rounds are needed
    (usually three or four) and the end is the same as choosing in turn.
    """
    documents, beams = values.shape[:2]
    earlier = torch.ones(beams, beams, dtype=torch.bool, device=values.device).tril(-1)
    guess = tokens.new_full((documents, beams), -1)
    while True:
        same = tokens[:, :, :, None] == guess[:, None, None, :]
        frequency = (same & earlier[None, :, None, :]).sum(-1)
        scores = (values - penalty * frequency) + running[:, :, None]
        scores, where = scores.topk(2, dim=2)
        found = tokens.gather(2, where)
        second = (found[:, :, :1] == end).long()
        following = found.gather(2, second).masked_fill(done[:, :, None], pad)
        if torch.equal(following[:, :, 0], guess):
            break
        guess = following[:, :, 0]
    rows = torch.arange(beams, device=values.device)[None, :, None].expand(documents, -1, 2)
    next_scores = scores.gather(2, second).masked_fill(done[:, :, None], 0.0)
    return Choice(scores, found, rows, next_scores, following, rows[:, :, :1])
