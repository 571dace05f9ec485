"""Section data: where the documents and their references come from."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from brido.section import Count, Positive, Section, Share, Variant, choose_by_default

# An article of the world has at most so many optional facts.
_Extras = Annotated[int, Field(ge=1, le=4)]


class WorldSettings(Section):
    """`data.world`: the embedded synthetic news."""

    seed: Count = 0
    train: Count = 5000
    validation: Count = 300
    test: Count = 500
    support_rate: Share = 0.35
    counties_from_towns: bool = False
    formulaic_extras: bool = False
    extras_per_reference: tuple[_Extras, _Extras] = Field((1, 2), strict=False)
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

    id: str = "EdinburghNLP/xsum"
    config: str | None = None
    revision: str | None = None
    train_split: str = "train"
    validation_split: str = "validation"
    test_split: str = "test"
    id_column: str | None = "id"
    document_column: str = "document"
    summary_column: str = "summary"
    expected_rows: RowCounts | None = None


class FilesSettings(Section):
    """`data.files`: the user's own JSONL, CSV, TSV or Parquet files (paths or globs)."""

    train: str | list[str] | None = None
    validation: str | list[str] | None = None
    test: str | list[str] | None = None
    id_column: str | None = "id"
    document_column: str = "document"
    summary_column: str = "summary"
    references_column: str | None = None
    validation_fraction: Share = 0.05
    test_fraction: Share = 0.05
    split_seed: Count = 0


class _Data(Variant):
    """`data`, whatever its source."""

    chooser = "source"

    lowercase: bool = False
    max_documents: Positive | None = None
    max_bad_fraction: Share = 0.0


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
    files: FilesSettings = FilesSettings()


# `data`: where the documents and their references come from.
DataSettings = Annotated[
    WorldData | HubData | FilesData,
    Field(discriminator="source"),
    choose_by_default("source", "world"),
]
