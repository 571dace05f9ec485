"""What every source of documents offers, and the one that `data.source` names."""

from collections.abc import Generator
from typing import Any, Protocol

import pyarrow as pa

from brido.corpus.checks import RawRow
from brido.corpus.settings import DataSettings, WorldSettings
from brido.tables import WORLD_CORPUS
from brido.world import documents


class Source(Protocol):
    """Where rows come from: the embedded world, the hub, or files."""

    # The schema of the corpus tables that the rows fill.
    schema: pa.Schema
    # What makes this source reproducible: ids, resolved revisions, seeds.
    description: dict[str, Any]

    def rows(self, split: str) -> Generator[RawRow, None, None]:
        """The rows of a split, in order, as a stream."""


def open_source(settings: DataSettings) -> Source:
    """The source that `data.source` names.

    Raises:
        BridoError: it cannot be reached or read.
    """
    if settings.source == "hub":
        from brido.corpus.hub_datasets import HubSource

        return HubSource(settings.hub)
    if settings.source == "files":
        from brido.corpus.files import FilesSource

        return FilesSource(settings.files)
    return WorldSource(settings.world)


class WorldSource:
    """The embedded synthetic news, with its facts as a further column."""

    schema = WORLD_CORPUS

    def __init__(self, settings: WorldSettings) -> None:
        self.settings = settings
        self.description = {"source": "world", "settings": settings.model_dump(mode="json")}

    def rows(self, split: str) -> Generator[RawRow, None, None]:
        """The documents of a split."""
        for row in documents(self.settings, split):
            extra = {"facts": row.pop("facts")}
            yield RawRow(**row, extra=extra)
