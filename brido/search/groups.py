"""One step of beam search on log-probabilities: which tokens every group of beams takes next.

Diverse beam search (Vijayakumar et al., 2018) works through the groups in order; a token costs a
group `diversity_penalty` for each beam of an earlier group that takes it at the same step.
"""

from dataclasses import dataclass

import numpy as np
import torch

from brido.models.special_tokens import SpecialTokens
from brido.search import selection


@dataclass
class GroupOptions:
    """What one step chooses from, G groups of S of the N beams.

    values, tokens: the best K = N + E log-probabilities of each row, best first: [R, K], R rows for
    the N beams of each document or one for all of them; kept as [B, N, K]. K is enough: a group
    loses at most N - S tokens to the penalty, and takes at most S others and the E end tokens from
    one row. running: [B, N] scores of the beams so far. done: [B, G] finished groups; they take
    `pad` with score 0, and their pads do count in the penalty. cost: as values, how many times the
    penalty counts for a token, None for once (see `Rules.cost`).
    """

    values: torch.Tensor
    tokens: torch.Tensor
    running: torch.Tensor
    done: torch.Tensor
    diversity_penalty: float
    vocabulary: int
    special: SpecialTokens
    cost: torch.Tensor | None = None

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

    scores: torch.Tensor
    tokens: torch.Tensor
    beams: torch.Tensor
    next_scores: torch.Tensor
    next_tokens: torch.Tensor
    next_beams: torch.Tensor


def choose(options: GroupOptions) -> StepChoice:
    """The candidates and the next beams of every group."""
    on_processor = options.values.device.type == "cpu"
    return choose_compiled(options) if on_processor else choose_by_operators(options)


def choose_compiled(options: GroupOptions) -> StepChoice:
    """`choose` as one compiled loop."""
    values, tokens = options.values, options.tokens
    documents, groups = options.done.shape
    size = values.shape[1] // groups
    found, following = (
        [
            values.new_empty(documents, groups, count),
            tokens.new_empty(documents, groups, count),
            tokens.new_empty(documents, groups, count),
        ]
        for count in (_candidates(options, size), size)
    )
    cost = values.new_empty(0, 0, 0) if options.cost is None else options.cost
    selection.choose_groups(
        *(
            part.contiguous().numpy()
            for part in (values, tokens, options.running, options.done, cost)
        ),
        np.float32(options.diversity_penalty),
        options.vocabulary,
        np.array(options.special.ends),
        options.special.pad,
        tuple(part.numpy() for part in found),
        tuple(part.numpy() for part in following),
    )
    return StepChoice(*found, *following)


def forced_choice(running: torch.Tensor, groups: int, token: int) -> StepChoice:
    """Every beam takes `token` last: its score, running [B, N], stays; the model is not asked."""
    scores = running.view(len(running), groups, -1)
    scores, order = scores.sort(dim=2, descending=True, stable=True)
    first = torch.arange(0, running.shape[1], scores.shape[2], device=running.device)
    beams = first[None, :, None] + order
    tokens = torch.full_like(order, token)
    return StepChoice(scores, tokens, beams, torch.full_like(scores, -torch.inf), tokens, beams)


def _candidates(options: GroupOptions, size: int) -> int:
    """C, the candidates that a group of `size` beams looks at."""
    return min((1 + len(options.special.ends)) * size, size * options.values.shape[2])


def choose_by_operators(options: GroupOptions) -> StepChoice:
    """`choose` in PyTorch's operators."""
    values, done, pad = options.values, options.done, options.special.pad
    documents, beams, top_k = values.shape
    groups = done.shape[1]
    size = beams // groups
    diverse = groups > 1 and options.diversity_penalty > 0
    # How many beams of the groups so far take each token.
    taken = torch.zeros(documents, options.vocabulary, device=values.device) if diverse else None
    one = torch.ones(1, 1, device=values.device).expand(documents, size)
    pieces = []
    for group in range(groups):
        rows = slice(group * size, group * size + size)
        scores, found = values[:, rows].flatten(1), options.tokens[:, rows].flatten(1)
        if taken is not None and group:
            penalty = taken.gather(1, found) * options.diversity_penalty
            if options.cost is not None:
                penalty = penalty * options.cost[:, rows].flatten(1)
            scores = scores - penalty
        scores = (scores.view(documents, size, top_k) + options.running[:, rows, None]).flatten(1)
        piece = _choose_group(scores, found, group * size, size, options)
        if taken is not None and group + 1 < groups:
            taken.scatter_add_(1, piece[4].masked_fill(done[:, group, None], pad), one)
        pieces.append(piece)
    choice = StepChoice(*(torch.stack(parts, dim=1) for parts in zip(*pieces, strict=True)))
    choice.next_tokens.masked_fill_(done[:, :, None], pad)
    choice.next_scores.masked_fill_(done[:, :, None], 0.0)
    return choice


def _choose_group(
    scores: torch.Tensor, tokens: torch.Tensor, first: int, size: int, options: GroupOptions
) -> tuple[torch.Tensor, ...]:
    """Candidates and next beams of the group of `size` rows that starts at row `first`."""
    top_k = scores.shape[1] // size
    # Of equal scores the earlier beam's comes first, which topk does not promise.
    kept = slice(_candidates(options, size))
    scores, where = (part[:, kept] for part in scores.sort(dim=1, descending=True, stable=True))
    found = tokens.gather(1, where)
    beams = where.div(top_k, rounding_mode="floor").add_(first)
    # A stable sort moves the candidates that end behind those that go on.
    ending = is_end(found, options.special.ends).to(torch.uint8)
    going_on = ending.argsort(dim=1, stable=True)[:, :size]
    following = (part.gather(1, going_on) for part in (scores, found, beams))
    return scores, found, beams, *following


def is_end(tokens: torch.Tensor, ends: tuple[int, ...]) -> torch.Tensor:
    """Which of the tokens end a text, of the same shape."""
    found = tokens == ends[0]
    for end in ends[1:]:
        found |= tokens == end
    return found


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
