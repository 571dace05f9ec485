"""Section data: where the documents and their references come from."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from brido.utils.sections import (
    Count,
    Name,
    Positive,
    Section,
    Share,
    Variant,
    choose_by_default,
    inherited,
)

# An article of the world has at most so many optional facts.
_Extras = Annotated[int, Field(ge=1, le=4)]
# A column, a path or a glob, or several.
_Several = Name | Annotated[list[Name], Field(min_length=1)]


class WorldSettings(Section):
    """`data.world`: the embedded synthetic news."""

    seed: Count = Field(0, description="Decides every article of the world.")
    train: Positive = Field(200, description="Documents of the training split.")
    validation: Positive = Field(300, description="Documents of the validation split.")
    test: Positive = Field(500, description="Documents of the test split.")
    support_rate: Share = Field(
        0.35, description="Chance that an optional fact of the reference stands in the document."
    )
    stock_phrases: Share = Field(
        0.6,
        description='Chance that an article\'s day is "on Monday", in these words.',
    )
    counties_from_towns: bool = Field(
        False, description="true: a town tells its county, so a model can learn it."
    )
    formulaic_extras: bool = Field(
        False, description="true: extras share their wording, and the vote likes them."
    )
    extras_per_reference: tuple[_Extras, _Extras] = Field(
        (1, 1), strict=False, description="Fewest and most optional facts of a reference."
    )
    bare_references: Share = Field(
        0.015,
        description="Share of references without any optional fact. At 0 a model never learns to "
        "leave one out.",
    )

    def problems(self) -> Iterator[str]:
        """Fewest extras before most."""
        fewest, most = self.extras_per_reference
        if fewest > most:
            yield f"extras_per_reference: {fewest} is more than {most}; fewest first"


class _Columns(Section):
    """The columns of a table of documents."""

    @property
    def summary_columns(self) -> list[str]:
        """The columns of the references, the first of which holds the summaries; none: []."""
        named: str | list[str] | None = getattr(self, "summary_column", None)
        return [named] if isinstance(named, str) else list(named or [])


class HubSettings(_Columns):
    """`data.hub`: a data set of the Hugging Face hub."""

    id: Name = Field("EdinburghNLP/xsum", description="Hub id of the data set.")
    config: Name | None = Field(
        None,
        description="The data set's configuration, for instance 3.0.0 of abisee/cnn_dailymail.",
    )
    revision: Name | None = Field(
        None, description="Commit, branch or tag; null: main; source.json records the commit."
    )
    train_split: Name = Field("train", description="The data set's name of the training split.")
    validation_split: Name = Field(
        "validation", description="The data set's name of the validation split."
    )
    test_split: Name = Field("test", description="The data set's name of the test split.")
    id_column: Name | None = Field(
        "id",
        description="Column with ids; null, or id where there is none: made from the texts.",
    )
    document_column: Name = Field("document", description="Column with the documents.")
    summary_column: Name | None = Field(
        "summary", description="Column with the references; null: the corpus has no references."
    )


class FilesSettings(_Columns):
    """`data.files`: the user's own JSONL, CSV, TSV or Parquet files (paths or globs)."""

    train: _Several = Field(
        description="JSONL, CSV, TSV or Parquet: a path, a glob, or a list of them."
    )
    validation: _Several | None = Field(
        None,
        description="The same for validation; null: cut from train by a seeded hash of the id.",
    )
    test: _Several | None = Field(None, description="The same for test; null: cut from train.")
    id_column: Name | None = inherited(HubSettings, "id_column", "id")
    document_column: Name = inherited(HubSettings, "document_column", "document")
    summary_column: _Several | None = Field(
        "summary",
        description="Column with the references; null: the corpus has no references. A list: "
        "several, the summaries first.",
    )
    references_column: Name | None = Field(
        None, description="Column with a list of further references, for evaluation."
    )
    rename: dict[Name, Name] = Field(
        {},
        description="{OTHER: NAME}: column OTHER is read as NAME in a file that has no NAME.",
    )
    validation_fraction: Share = Field(
        0.05, description="Share of the rows of train that validation gets if it has no files."
    )
    test_fraction: Share = Field(
        0.05, description="Share of the rows of train that test gets if it has no files."
    )
    split_seed: Count = Field(0, description="Decides which rows of train validation and test get.")

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
        doubled = sorted(name for name, times in Counter(self.summary_columns).items() if times > 1)
        if doubled:
            yield f"summary_column: {', '.join(doubled)} is named more than once"
        if sum(self.cut.values()) >= 1:
            yield f"{self.cut} of the rows leave nothing for train"


class _Data(Variant):
    """`data` with any source.

    max_documents: of each split; max_evaluated: of validation and of test, which every system
    writes summaries of. None: all.
    """

    chooser = "source"

    source: str = Field(description="world (the embedded synthetic news) | hub | files.")
    lowercase: bool = Field(
        False, description="true: documents and references in lower case (as BRIO's CNN/DM)."
    )
    max_documents: Positive | None = Field(
        None, description="Documents of each split, at most, for a quick try; null: all."
    )
    max_evaluated: Positive | None = Field(
        None, description="Validation documents at most, and test documents at most; null: all."
    )
    max_bad_fraction: Share = Field(
        0.0,
        description="Share of rows that may be left out because they are bad. Bad are a text that "
        "is null or blank, and a repeated id. They are counted.",
    )

    def limit(self, split: str) -> int | None:
        """Return how many documents of a split are taken at most; None: all."""
        limits = [self.max_documents, None if split == "train" else self.max_evaluated]
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def labelled(self) -> bool:
        """Whether the documents have references."""
        given = getattr(self, self.source)
        return getattr(given, "summary_column", "summary") is not None


class WorldData(_Data):
    """`data` of the embedded world."""

    source: Literal["world"] = inherited(_Data, "source", "world")
    world: WorldSettings = Field(
        WorldSettings(),
        description="The embedded synthetic news; docs/world.md says what each knob is for.",
    )

    def problems(self) -> Iterator[str]:
        """The world's facts have capitals."""
        if self.lowercase:
            yield (
                "lowercase: names of the embedded world are found by their capitals, so no "
                "lower-case summary would be good: set it to false"
            )


class HubData(_Data):
    """`data` from the hub."""

    source: Literal["hub"] = inherited(_Data, "source", "hub")
    hub: HubSettings = Field(HubSettings(), description="A data set of the Hugging Face hub.")


class FilesData(_Data):
    """`data` from files."""

    source: Literal["files"] = inherited(_Data, "source", "files")
    files: FilesSettings = Field(
        description="Files of your own; docs/tutorial.md says what they may look like."
    )


# `data`: where the documents and their references come from.
DataSettings = Annotated[
    WorldData | HubData | FilesData,
    Field(discriminator="source"),
    choose_by_default("source", "world"),
]
