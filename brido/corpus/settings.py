"""Section data: where the documents and their references come from."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from brido.settings.base import Count, Name, Positive, Section, Share, Variant, choose_by_default

# An article of the world has at most so many optional facts.
_Extras = Annotated[int, Field(ge=1, le=4)]
# A path or glob, or several.
_Paths = Name | Annotated[list[Name], Field(min_length=1)]


class WorldSettings(Section):
    """`data.world`: the embedded synthetic news."""

    seed: Count = 0
    train: Positive = 200
    validation: Positive = 300
    test: Positive = 500
    support_rate: Share = 0.35
    stock_phrases: Share = 0.6
    counties_from_towns: bool = False
    formulaic_extras: bool = False
    extras_per_reference: tuple[_Extras, _Extras] = Field((1, 1), strict=False)
    bare_references: Share = 0.015

    def problems(self) -> Iterator[str]:
        """Fewest extras before most."""
        fewest, most = self.extras_per_reference
        if fewest > most:
            yield f"extras_per_reference: {fewest} is more than {most}; fewest first"


class RowCounts(Section):
    """`data.hub.expected_rows`: how many rows each split must have."""

    train: Positive
    validation: Positive
    test: Positive


class HubSettings(Section):
    """`data.hub`: a data set of the Hugging Face hub."""

    id: Name = "EdinburghNLP/xsum"
    config: Name | None = None
    revision: Name | None = None
    train_split: Name = "train"
    validation_split: Name = "validation"
    test_split: Name = "test"
    id_column: Name | None = "id"
    document_column: Name = "document"
    # None: the corpus has no references.
    summary_column: Name | None = "summary"
    expected_rows: RowCounts | None = None


class FilesSettings(Section):
    """`data.files`: the user's own JSONL, CSV, TSV or Parquet files (paths or globs)."""

    train: _Paths
    validation: _Paths | None = None
    test: _Paths | None = None
    id_column: Name | None = "id"
    document_column: Name = "document"
    # None: the corpus has no references.
    summary_column: Name | None = "summary"
    references_column: Name | None = None
    validation_fraction: Share = 0.05
    test_fraction: Share = 0.05
    split_seed: Count = 0

    @property
    def cut(self) -> dict[str, float]:
        """The share of train's rows that each split without files gets."""
        fractions = {"validation": self.validation_fraction, "test": self.test_fraction}
        return {split: share for split, share in fractions.items() if not getattr(self, split)}

    def problems(self) -> Iterator[str]:
        """Every split must get rows."""
        for split, share in self.cut.items():
            if share == 0:
                yield f"{split}_fraction: 0 leaves {split} empty; name its files, or a share"
        if sum(self.cut.values()) >= 1:
            yield f"{self.cut} of the rows leave nothing for train"


class _Data(Variant):
    """`data`, whatever its source.

    max_documents: of each split; max_evaluated: of validation and of test, which every system
    writes summaries of. None: all.
    """

    chooser = "source"

    source: str
    lowercase: bool = False
    max_documents: Positive | None = None
    max_evaluated: Positive | None = None
    max_bad_fraction: Share = 0.0

    def limit(self, split: str) -> int | None:
        """How many documents of a split are taken at most; None: all."""
        limits = [self.max_documents, None if split == "train" else self.max_evaluated]
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def labelled(self) -> bool:
        """Whether the documents have references."""
        given = getattr(self, self.source)
        return getattr(given, "summary_column", "summary") is not None


class WorldData(_Data):
    """`data` of the embedded world."""

    source: Literal["world"] = "world"
    world: WorldSettings = WorldSettings()


class HubData(_Data):
    """`data` from the hub."""

    source: Literal["hub"] = "hub"
    hub: HubSettings = HubSettings()


class FilesData(_Data):
    """`data` from files."""

    source: Literal["files"] = "files"
    files: FilesSettings


# `data`: where the documents and their references come from.
DataSettings = Annotated[
    WorldData | HubData | FilesData,
    Field(discriminator="source"),
    choose_by_default("source", "world"),
]
