"""Sections data, text and checkpoints: what goes in."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from brido.section import Count, Positive, Section, Share


class WorldSettings(Section):
    """`data.world`: the embedded synthetic news."""

    seed: Count = 0
    train: Count = 5000
    validation: Count = 300
    test: Count = 500
    support_rate: Share = 0.35
    counties_from_towns: bool = False
    formulaic_extras: bool = False
    extras_per_reference: tuple[Positive, Positive] = Field((1, 2), strict=False)
    bare_references: Share = 0.015

    @model_validator(mode="after")
    def _fewest_first(self) -> "WorldSettings":
        fewest, most = self.extras_per_reference
        if fewest > most:
            raise ValueError(f"extras_per_reference: {fewest} is more than {most}; fewest first")
        return self


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


class DataSettings(Section):
    """`data`: where the documents and their references come from."""

    source: Literal["world", "hub", "files"] = "world"
    world: WorldSettings = WorldSettings()
    hub: HubSettings = HubSettings()
    files: FilesSettings = FilesSettings()
    lowercase: bool = False
    max_documents: Positive | None = None
    max_bad_fraction: Share = 0.0


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


class CheckpointSettings(Section):
    """`checkpoints.NAME`: `embedded`, a hub id, or a folder written by save_pretrained."""

    source: str
    revision: str | None = None
    embedded: EmbeddedSettings = EmbeddedSettings()
