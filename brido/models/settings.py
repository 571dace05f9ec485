"""Sections checkpoints and reading: which models, and how they read."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from brido.section import Count, Positive, Section, Share, Variant


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
