"""Which other documents guide what is written about a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from brido.candidates.blocks import blocks
from brido.models.tokens import Sources
from brido.search.guidance import Guidance
from brido.search.settings import GuidanceSettings


class Guide(NamedTuple):
    """The others of every document, and how they steer.

    sources: all documents, read. others [D, K]: the places of each document's others among them.
    """

    sources: Sources
    others: list[list[int]]
    settings: GuidanceSettings

    def of(self, numbers: Sequence[int]) -> Guidance:
        """The guidance of a batch of documents."""
        places = [place for number in numbers for place in self.others[number]]
        others = self.sources.take(places)
        shape = (len(numbers), -1)
        return Guidance(
            others.ids.unflatten(0, shape),
            others.mask.unflatten(0, shape),
            self.settings.weight,
            self.settings.floor,
        )


def guide(
    ids: Sequence[str], documents: Sequence[str], sources: Sources, settings: GuidanceSettings
) -> Guide:
    """Choose each document's others: the rest of its block (`brido.candidates.blocks`).

    Raises:
        BridoError: there are too few different documents.
    """
    others: dict[int, list[int]] = {}
    for block in blocks(ids, documents, settings.others, settings.seed, "guidance: others"):
        for place in block.members[: block.scored]:
            others[place] = [member for member in block.members if member != place]
    return Guide(sources, [others[place] for place in range(len(ids))], settings)
