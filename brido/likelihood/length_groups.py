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


def group_by_length(scored: Tensor, largest: int | None = None) -> list[LengthGroup]:
    """Groups, longest first, that hold each of N candidates of B documents exactly once.

    scored [B, N, T] says which tokens count. Every document gives the same number of candidates to
    a group, its longest to the first. All are one group, or as few of nearly equal size as take no
    more than `largest` candidates of a document.
    """
    documents, candidates, tokens = scored.shape
    lengths = (scored * torch.arange(1, tokens + 1)).amax(-1)
    order = lengths.argsort(dim=1, descending=True, stable=True)
    groups = []
    for members in order.tensor_split(-(-candidates // (largest or candidates)), dim=1):
        length = int(lengths.gather(1, members).max())
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
