"""Candidates of similar length run together, so that little is computed for padding."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class LengthGroup(NamedTuple):
    """Candidates that run in one pass.

    members [B, n]: which of each document's candidates; length: tokens they are cut to; places:
    where the scored tokens stand in [B, n, length], as flat indices.
    """

    members: Tensor
    length: int
    places: Tensor

    def rows(self, candidate_ids: Tensor) -> Tensor:
        """The group's part of candidate_ids [B, N, T + 1]: [B, n, length + 1]."""
        end = self.length + 1
        members = self.members.to(candidate_ids.device)[:, :, None].expand(-1, -1, end)
        return candidate_ids[:, :, :end].gather(1, members)


def group_by_length(scored: Tensor, largest: int, price: float) -> list[LengthGroup]:
    """Groups, longest first, that hold each of N candidates of B documents exactly once.

    scored [B, N, T] says which tokens count. Every document gives the same number of candidates to
    a group, its longest to the first. The cuts minimise the padded tokens of a document plus the
    `price` of a pass; no group takes more than `largest` candidates of a document.
    """
    documents, candidates, tokens = scored.shape
    lengths = (scored * torch.arange(1, tokens + 1)).amax(-1)
    order = lengths.argsort(dim=1, descending=True, stable=True)
    longest = lengths.gather(1, order).amax(0).tolist()
    cuts = _cuts(longest, min(largest, candidates), price)
    groups = []
    for start, end in zip([0, *cuts[:-1]], cuts, strict=True):
        members, length = order[:, start:end], longest[start]
        rows = scored[torch.arange(documents)[:, None], members, :length]
        groups.append(LengthGroup(members, length, rows.flatten().nonzero()[:, 0]))
    return groups


def ungrouped(
    groups: Sequence[LengthGroup], values: Sequence[tuple[Tensor, ...]]
) -> Iterator[Tensor]:
    """Values of the candidates, [B, n] a group, in the candidates' own order: [B, N] each."""
    # Where each candidate stands among the groups.
    where = torch.cat([group.members for group in groups], dim=1).argsort(1)
    where = where.to(values[0][0].device)
    for parts in zip(*values, strict=True):
        yield torch.cat(parts, dim=1).gather(1, where)


def _cuts(longest: list[int], largest: int, price: float) -> list[int]:
    """Ends of the cheapest groups of the falling lengths (dynamic programme over the last cut)."""
    best, first = [0.0], [0]
    for end in range(1, len(longest) + 1):
        cost, start = min(
            (best[start] + (end - start) * longest[start] + price, start)
            for start in range(max(0, end - largest), end)
        )
        best.append(cost)
        first.append(start)
    cuts = [len(longest)]
    while first[cuts[-1]]:
        cuts.append(first[cuts[-1]])
    return cuts[::-1]
