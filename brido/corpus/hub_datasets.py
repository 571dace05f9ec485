"""Data sets of the Hugging Face hub, at a commit that is recorded."""

import re
from collections.abc import Generator
from itertools import chain
from pathlib import Path
from typing import Any

from brido.corpus.checks import SPLITS, RawRow, lacking, raw_row
from brido.corpus.settings import HubSettings
from brido.tables import CORPUS
from brido.utils.errors import BridoError
from brido.utils.hub_errors import hub_errors

_COMMIT = re.compile(r"[0-9a-f]{40}")
_KEY = "data.hub"


class HubSource:
    """A data set of the hub: fetched once, then read from the cache, also without a network.

    Rows are read from a memory-mapped file, so memory does not grow with their number.
    """

    schema = CORPUS

    def __init__(self, settings: HubSettings) -> None:
        """Fetch the data set (or take it from the cache) and check its columns.

        Raises:
            BridoError: it cannot be fetched (see `brido.utils.hub_errors`), or has no such config,
                split or column.
        """
        self.settings = settings
        self.splits = self._load()
        self.description = {
            "source": "hub",
            **settings.model_dump(mode="json", include={"id", "config", "revision"}),
            "commit": self._commit(),
        }
        self._check()

    def _load(self) -> dict[str, Any]:
        import datasets
        from datasets.exceptions import DatasetsError

        settings = self.settings
        names = [getattr(settings, f"{split}_split") for split in SPLITS]
        try:
            with hub_errors("dataset", settings.id, settings.revision, _KEY):
                loaded = datasets.load_dataset(
                    settings.id, settings.config, revision=settings.revision, split=names
                )
        except (RuntimeError, ValueError, KeyError, FileNotFoundError, DatasetsError) as error:
            # A script, an unknown config or split (the library names those there are).
            reason = " ".join(str(error.__cause__ or error).split())
            raise BridoError(
                f"{_KEY}: {settings.id} cannot be loaded: {reason}. Of a data set with a script "
                f"the hub keeps the rows in {_KEY}.revision refs/convert/parquet"
            ) from error
        return dict(zip(SPLITS, loaded, strict=True))

    def _commit(self) -> str | None:
        """The commit that was fetched: the name of its folder in the library's cache.

        Raises:
            BridoError: without a network the library took another commit than the pinned one.
        """
        files = self.splits["train"].cache_files
        folders = [Path(file["filename"]).parent.name for file in files]
        found = next(filter(_COMMIT.fullmatch, folders), None)
        pinned = self.settings.revision
        if pinned and _COMMIT.fullmatch(pinned) and found != pinned:
            raise BridoError(
                f"{_KEY}.revision: the cache holds {self.settings.id} at {found}, not at {pinned}: "
                "run once with a network"
            )
        return found

    def _check(self) -> None:
        problems = [
            problem
            for split, rows in self.splits.items()
            for problem in lacking(_KEY, self.settings, split, rows.column_names)
        ]
        if problems:
            name = self.settings.id
            raise BridoError.from_problems(f"the data set {name} does not fit:", problems)

    def rows(self, split: str) -> Generator[RawRow, None, None]:
        """The rows of a split, read in batches."""
        settings = self.settings
        named = {settings.id_column, settings.document_column, settings.summary_column}
        columns = self.splits[split].column_names
        data = self.splits[split].select_columns([name for name in columns if name in named])
        batches = data.with_format("arrow").iter(batch_size=1000)
        rows = chain.from_iterable(batch.to_pylist() for batch in batches)
        for number, row in enumerate(rows, 1):
            yield raw_row(settings, row, f"{split} row {number}", settings.id_column in row)
