"""One step of beam search on log-probabilities: which tokens every group of beams takes next.

Diverse beam search (Vijayakumar et al., 2018) works through the groups in order; a token costs a
group `diversity_penalty` for each beam of an earlier group that takes it at the same step.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from brido.models.tokens import SpecialTokens


@dataclass
class GroupOptions:
    """What one step chooses from, G groups of S of the N beams.

    values, tokens: the best K = N + E log-probabilities of each row, best first: [R, K], R rows for
    the N beams of each document or one for all of them; kept as [B, N, K]. K is enough: a group
    loses at most N - S tokens to the penalty, and takes at most S others and the E end tokens from
    one row. running: [B, N] scores of the beams so far. done: [B, G] finished groups; they take
    `pad`, which does count in the penalty, and their scores say nothing. cost: as values, how many
    times the penalty counts for a token, None for once (see `Rules.cost`).
    """

    values: Tensor
    tokens: Tensor
    running: Tensor
    done: Tensor
    diversity_penalty: float
    vocabulary: int
    special: SpecialTokens
    cost: Tensor | None = None

    def __post_init__(self) -> None:
        documents, beams = self.running.shape
        for name in ("values", "tokens", "cost"):
            part = getattr(self, name)
            if part is not None:
                part = part.view(documents, -1, part.shape[-1]).expand(-1, beams, -1)
                setattr(self, name, part)


@dataclass
class StepChoice:
    """What one step found, G groups of S beams: C = (1 + E) S candidates a group, best first.

    Candidates: scores, tokens, beams [B, G, C]; `beams` counts the rows of a document, 0 to N - 1.
    Next beams: next_scores, next_tokens, next_beams [B, G, S], the best candidates that go on.
    """

    scores: Tensor
    tokens: Tensor
    beams: Tensor
    next_scores: Tensor
    next_tokens: Tensor
    next_beams: Tensor


def choose(options: GroupOptions) -> StepChoice:
    """The candidates and the next beams of every group."""
    values, done = options.values, options.done
    size = values.shape[1] // done.shape[1]
    # How many beams of the groups so far take each token.
    taken = values.new_zeros(len(values), options.vocabulary)
    one = values.new_ones(len(values), size)
    found = []
    for group in range(done.shape[1]):
        rows = slice(group * size, (group + 1) * size)
        scores, tokens = values[:, rows], options.tokens[:, rows].flatten(1)
        if group and options.diversity_penalty:
            penalty = taken.gather(1, tokens).view_as(scores) * options.diversity_penalty
            scores = scores - (penalty if options.cost is None else penalty * options.cost[:, rows])
        scores = (scores + options.running[:, rows, None]).flatten(1)
        choice = _of_group(scores, tokens, size, options)
        choice.beams += group * size
        choice.next_beams += group * size
        choice.next_tokens.masked_fill_(done[:, group, None], options.special.pad)
        taken.scatter_add_(1, choice.next_tokens, one)
        found.append(vars(choice).values())
    return StepChoice(*(torch.stack(parts, dim=1) for parts in zip(*found, strict=True)))


def _of_group(scores: Tensor, tokens: Tensor, size: int, options: GroupOptions) -> StepChoice:
    """What a group of S = `size` rows chooses, of scores and tokens [B, S * K]."""
    ends = options.special.ends
    candidates = slice((1 + len(ends)) * size)
    # Of equal scores the earlier beam's comes first, which topk does not promise.
    scores, where = (
        part[:, candidates] for part in scores.sort(dim=1, descending=True, stable=True)
    )
    tokens = tokens.gather(1, where)
    beams = where.div(options.values.shape[2], rounding_mode="floor")
    # A stable sort moves the candidates that end behind those that go on.
    ending = is_end(tokens, ends).to(torch.uint8)
    going_on = ending.argsort(dim=1, stable=True)[:, :size]
    following = (part.gather(1, going_on) for part in (scores, tokens, beams))
    return StepChoice(scores, tokens, beams, *following)


def forced_choice(running: Tensor, groups: int, token: int) -> StepChoice:
    """Every beam takes `token` last: its score, running [B, N], stays; the model is not asked."""
    scores = running.view(len(running), groups, -1)
    beams = torch.arange(running.shape[1], device=running.device).view(1, groups, -1)
    beams, tokens = beams.expand_as(scores), torch.full_like(scores, token, dtype=torch.long)
    return StepChoice(scores, tokens, beams, torch.full_like(scores, -torch.inf), tokens, beams)


def is_end(tokens: Tensor, ends: tuple[int, ...]) -> Tensor:
    """Which of the tokens end a text, of the same shape."""
    found = tokens == ends[0]
    for end in ends[1:]:
        found |= tokens == end
    return found
