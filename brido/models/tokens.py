"""Documents and texts as the token ids that a model reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from brido.utils.errors import BridoError


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
