"""Sections checkpoints and reading: which models, and how they read."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from brido.settings.base import (
    Count,
    Exponent,
    Name,
    Number,
    Part,
    Positive,
    Section,
    Share,
    Size,
    Variant,
    choose_by_default,
)
from brido.utils.errors import quoted

# Fewer hold a text's first and last token and nothing worth reading between them.
_Tokens = Annotated[Size, Field(ge=4)]
_BYTES = 260


def _updates_or_share(value: Any) -> Any:
    """Accept a whole number of updates, or a share of them below 1; either as it is written."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not (0 <= value < 1 or (isinstance(value, int) and 0 <= value < 2**63)):
        raise ValueError(
            f"must be a whole number of updates, or a share of them below 1, not {quoted(value)}"
        )
    return value


Warmup = Annotated[int | float, BeforeValidator(_updates_or_share)]


class WorldShare(Section):
    """`checkpoints.NAME.embedded.world`: articles of the corpus' world that are in no split."""

    documents: Positive = 3000
    support_rate: Share = 0.8


class EmbeddedModel(Variant):
    """`checkpoints.NAME.embedded`: a small model trained from scratch, here, whatever its kind.

    It learns from `world`, or, where that is None, from the training split.
    """

    chooser = "architecture"

    seed: Count = 0
    world: WorldShare | None = WorldShare()
    tokenizer: Literal["word", "bpe"] = "word"
    vocabulary_size: Annotated[Size, Field(ge=5)] = 4000
    d_model: Positive = 128
    attention_heads: Positive = 4
    ffn_dim: Positive = 256
    max_source_tokens: _Tokens = 256
    max_summary_tokens: _Tokens = 64
    epochs: Positive = 3
    batch_size: Positive = 16
    learning_rate: Number = 3e-3
    label_smoothing: Part = 0.1
    num_beams: Positive = 4
    length_penalty: Exponent = 1.0

    def problems(self) -> Iterator[str]:
        """Sizes that fit together."""
        if self.d_model % self.attention_heads:
            yield (
                f"d_model ({self.d_model}) must be a multiple of attention_heads "
                f"({self.attention_heads})"
            )
        if self.tokenizer == "bpe" and self.vocabulary_size < _BYTES:
            yield (
                f"vocabulary_size ({self.vocabulary_size}) must be at least {_BYTES} with "
                "tokenizer bpe: 256 bytes and 4 special tokens"
            )


class LoraSettings(Section):
    """`training.lora`, `checkpoints.NAME.fine_tuning.lora`: adapters train, the model does not."""

    # Far above any rank in use, and below what no memory holds.
    rank: Annotated[int, Field(ge=1, le=2**14)] = 16
    alpha: Number = 32.0
    dropout: Part = 0.0
    targets: Annotated[list[Name], Field(min_length=1)] | None = None


class FineTuningSettings(Section):
    """`checkpoints.NAME.fine_tuning`: maximum likelihood on references before anything else."""

    world: WorldShare | None = None
    documents: Positive | None = None
    seed: Count = 0
    epochs: Positive = 1
    batch_size: Positive = 8
    learning_rate: Number = 1e-4
    warmup_steps: Warmup = 0
    label_smoothing: Part = 0.0
    max_summary_tokens: _Tokens = 64
    lora: LoraSettings | None = None

    def problems(self) -> Iterator[str]:
        """What it learns from is said once."""
        if self.world is not None and self.documents is not None:
            yield "documents: world says itself how many: write null"


class EmbeddedSettings(EmbeddedModel):
    """An encoder-decoder, BART."""

    architecture: Literal["bart"] = "bart"
    encoder_layers: Positive = 2
    decoder_layers: Positive = 1
    dropout: Part = 0.0


class EmbeddedLlama(EmbeddedModel):
    """A decoder-only model, Llama, that reads a document and continues with its summary."""

    architecture: Literal["llama"]
    layers: Positive = 3


class _Checkpoint(Variant):
    chooser = "source"


class EmbeddedCheckpoint(_Checkpoint):
    """`checkpoints.NAME` that is trained here."""

    source: Literal["embedded"]
    embedded: Annotated[
        EmbeddedSettings | EmbeddedLlama,
        Field(discriminator="architecture"),
        choose_by_default("architecture", "bart"),
    ] = EmbeddedSettings()


class StoredCheckpoint(_Checkpoint):
    """`checkpoints.NAME` from a hub id, a folder written by save_pretrained, or a GGUF file.

    adapter: a PEFT folder that is merged into the weights.
    """

    otherwise = "a hub id or folder"

    source: Name
    revision: Name | None = None
    adapter: Name | None = None
    fine_tuning: FineTuningSettings | None = None


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
    """`reading.NAME`: how a model reads documents, and what its decoder begins with.

    max_source_tokens counts everything that is read, a prompt and its template too. prompt, system
    and template are for decoder-only models; template: switches of the chat template, or None to do
    without it.
    """

    max_source_tokens: _Tokens = 256
    decoder_prefix: Literal["generation", "brio"] = "generation"
    prompt: str | None = None
    system: str | None = None
    template: dict[str, bool | int | float | str] | None = Field(default_factory=dict)
