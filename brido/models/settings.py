"""Sections checkpoints and reading: which models, and how they read."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from brido.utils.errors import quoted
from brido.utils.sections import (
    Count,
    Exponent,
    Name,
    Number,
    PartialShare,
    Positive,
    Prompt,
    Section,
    Share,
    Size,
    Variant,
    inherited,
)

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

    documents: Positive = Field(14000, description="Articles to learn from.")
    support_rate: Share = Field(
        0.8,
        description="data.world.support_rate for these articles; if it is higher, the corpus "
        "is cleaner.",
    )


class EmbeddedSettings(Section):
    """`checkpoints.NAME.embedded`: a small BART, trained here from scratch.

    It learns from `world`, or, where that is None, from the training split.
    """

    seed: Count = Field(0, description="Decides the first weights and the order of documents.")
    world: WorldShare | None = Field(
        WorldShare(),
        description="Articles outside all splits to learn from; null: the training split.",
    )
    tokenizer: Literal["word", "bpe"] = Field(
        "word", description="word | bpe (byte level; for real text)."
    )
    vocabulary_size: Annotated[Size, Field(ge=5)] = Field(
        4000, description="Tokens of its vocabulary, at most."
    )
    d_model: Positive = Field(128, description="Width of the layers.")
    encoder_layers: Positive = Field(2, description="Layers of the encoder.")
    decoder_layers: Positive = Field(1, description="Layers of the decoder.")
    attention_heads: Positive = Field(
        4, description="Heads of each attention layer; d_model must be divisible by them."
    )
    ffn_dim: Positive = Field(256, description="Width inside the feed-forward layers.")
    dropout: PartialShare = Field(
        0.0, description="Share of the activations that are dropped in training."
    )
    max_source_tokens: _Tokens = Field(256, description="Tokens of a document that it can read.")
    max_summary_tokens: _Tokens = Field(64, description="Tokens of a summary that it learns.")
    epochs: Positive = Field(3, description="Passes over its corpus.")
    batch_size: Positive = Field(16, description="Documents of an update.")
    learning_rate: Number = Field(3e-3, description="Highest learning rate.")
    label_smoothing: PartialShare = Field(
        0.1, description="Probability that the target spreads over the whole vocabulary."
    )
    num_beams: Positive = Field(4, description="Beams in its generation_config.")
    length_penalty: Exponent = Field(
        1.0, description="Exponent of the length in its generation_config."
    )

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
    """`training.lora`, `checkpoints.NAME.fine_tuning.lora`: adapters train, the model does not.

    Every linear layer but the output layer gets one.
    """

    # Far above any rank in use, and below what no memory holds.
    rank: Annotated[int, Field(ge=1, le=2**14)] = Field(16, description="Rank of the adapter.")
    alpha: Number = Field(32.0, description="The adapter's output is multiplied by alpha / rank.")
    dropout: PartialShare = Field(
        0.0, description="Share of the adapter's inputs that are dropped in training."
    )


class FineTuningSettings(Section):
    """`checkpoints.NAME.fine_tuning`: maximum likelihood on references before anything else."""

    world: WorldShare | None = Field(
        None,
        description="Articles of data.world outside all splits to learn from; "
        "null: the training split.",
    )
    documents: Positive | None = Field(
        None,
        description="Documents of the training split, the first ones; null: all, or as many "
        "as `world` says.",
    )
    seed: Count = Field(0, description="Decides the order of documents and what is dropped.")
    epochs: Positive = Field(1, description="Passes over the documents.")
    batch_size: Positive = Field(8, description="Documents of an update.")
    learning_rate: Number = Field(
        1e-4, description="Highest learning rate; AdamW, linear schedule."
    )
    warmup_steps: Warmup = Field(
        0,
        description="Updates until the learning rate is highest; below 1: this share of all "
        "updates.",
    )
    label_smoothing: PartialShare = Field(
        0.0, description="Probability that the target spreads over the whole vocabulary."
    )
    max_summary_tokens: _Tokens = Field(64, description="Tokens of a reference that it learns.")
    lora: LoraSettings | None = Field(
        None,
        description="LoRA: an adapter is trained, and merged at the end; null: all weights train.",
    )

    def problems(self) -> Iterator[str]:
        """What it learns from is said once."""
        if self.world is not None and self.documents is not None:
            yield "documents: must be null, because world.documents says how many"


class _Checkpoint(Variant):
    chooser = "source"

    source: str = Field(
        description="embedded (small, trained here) | a hub id, folder or GGUF file | none (base: "
        "no model)."
    )


class EmbeddedCheckpoint(_Checkpoint):
    """`checkpoints.NAME` that is trained here."""

    source: Literal["embedded"] = inherited(_Checkpoint, "source")
    embedded: EmbeddedSettings = Field(
        EmbeddedSettings(), description="A small BART that is trained from scratch."
    )


class StoredCheckpoint(_Checkpoint):
    """`checkpoints.NAME` from a hub id, a folder written by save_pretrained, or a GGUF file.

    `none` for base: no model, where only candidates and scores are asked for. adapter: a PEFT
    folder that is merged into the weights.
    """

    otherwise = "a hub id or folder"

    source: Name = inherited(_Checkpoint, "source")
    revision: Name | None = Field(
        None, description="Commit, tag or branch of a hub id; null: main."
    )
    adapter: Name | None = Field(
        None, description="A PEFT folder with a LoRA adapter, merged into the weights."
    )
    fine_tuning: FineTuningSettings | None = Field(
        None,
        description="Training on references (maximum likelihood) before anything else; null: none.",
    )


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

    max_source_tokens counts everything that is read, a prompt and its template too. prompt: what
    stands around a document, which is cut where need be. system and template are for decoder-only
    models; template: switches of the chat template, or None to do without it.
    """

    max_source_tokens: _Tokens = Field(
        256,
        description="Tokens that a model reads, with prompt and template; a longer document "
        "is cut.",
    )
    decoder_prefix: Literal["generation", "brio"] = Field(
        "generation",
        description="How scoring starts: generation (as decoding does) | brio (BART from <s>).",
    )
    prompt: Prompt | None = Field(
        None,
        description=(
            "The text around a document (a chat's user turn), with {{ document }} in it. "
            "With null it is the document alone, for T5 behind its own prefix."
        ),
    )
    system: Prompt | None = Field(
        None, description="Decoder-only models: the system's turn; null: none."
    )
    template: dict[str, bool | int | float | str] | None = Field(
        default_factory=dict,
        description="Switches of a chat template, as {enable_thinking: false}; null: no template.",
    )
