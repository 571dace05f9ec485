"""Sections data, text, checkpoints and reading: what goes in."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

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


class TextSettings(Section):
    """`text`: how sentences are split wherever ROUGE-Lsum needs them."""

    sentence_splitter: Literal["abbreviations", "punkt"] = "abbreviations"


class EmbeddedSettings(Section):
    """`checkpoints.NAME.embedded`: a BART trained from scratch on the corpus."""

    seed: Count = 0
    tokenizer: Literal["word", "bpe"] = "word"
    vocabulary_size: Positive = 4000
    d_model: Positive = 128
    encoder_layers: Positive = 2
    decoder_layers: Positive = 1
    attention_heads: Positive = 4
    ffn_dim: Positive = 256
    dropout: Share = 0.0
    max_source_tokens: Positive = 256
    max_summary_tokens: Positive = 64
    epochs: Positive = 3
    batch_size: Positive = 16
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 3e-3
    label_smoothing: Share = 0.1
    num_beams: Positive = 4
    length_penalty: float = 1.0


class _Checkpoint(Variant):
    chooser = "source"


class EmbeddedCheckpoint(_Checkpoint):
    """`checkpoints.NAME` that is trained here."""

    source: Literal["embedded"]
    embedded: EmbeddedSettings = EmbeddedSettings()


class StoredCheckpoint(_Checkpoint):
    """`checkpoints.NAME` from a hub id or a folder written by save_pretrained."""

    otherwise = "a hub id or folder"

    source: str
    revision: str | None = None


def _checkpoint_form(value: Any) -> str:
    source = value.get("source") if isinstance(value, dict) else getattr(value, "source", None)
    return "embedded" if source == "embedded" else StoredCheckpoint.otherwise


# `checkpoints.NAME`: where the model of a system comes from.
CheckpointSettings = Annotated[
    Annotated[EmbeddedCheckpoint, Tag("embedded")]
    | Annotated[StoredCheckpoint, Tag(StoredCheckpoint.otherwise)],
    Discriminator(_checkpoint_form),
]


class ReadingSettings(Section):
    """`reading.NAME`: how a model reads documents, and what its decoder begins with."""

    max_source_tokens: Positive = 256
    decoder_prefix: Literal["generation", "brio"] = "generation"
