"""A checkpoint that reads documents and writes summaries: tokenizer, model and its family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils.logging import disable_progress_bar

from brido.models.checkpoint import load_checkpoint, save
from brido.models.family import family_of
from brido.models.interface import ModelParts, Texts
from brido.models.lora import Adapter
from brido.models.products import lay_out_layers
from brido.models.prompt import Prompt
from brido.models.settings import LoraSettings, ReadingSettings
from brido.models.tokens import Sources, Targets, end_tokens, pad_token, padded, spells_only
from brido.utils.errors import ArgumentError, BridoError

# Elements to a multiple of which a column of weights is padded, an odd multiple: columns a power of
# two apart would push each other out of the first-level cache.
ALIGNMENT = 16


class LanguageModel(ModelParts):
    """One model with its tokenizer, and how it reads (`reading` of params.yaml).

    Generate, train, decode and the benchmarks all read, write and save through it.

    Example:
        >>> own = LanguageModel(model, tokenizer, ReadingSettings(max_source_tokens=60))
        >>> sources = own.read(["A document.", "Another one."])
        >>> sources.ids.shape == sources.mask.shape  # [B, S] each, padded
        True
    """

    adapter: Adapter | None = None

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        reading: ReadingSettings | None = None,
    ) -> None:
        """Checks that model, tokenizer and limits fit together.

        Raises:
            BridoError: more source tokens than the model has positions, more entries of the
                tokenizer than the model has embeddings, no pad token (all problems named).
        """
        self.model, self.tokenizer = model, tokenizer
        self.reading = reading or ReadingSettings()
        self.family = family_of(model.config)
        self.pad = pad_token(model)  # fills up written sequences
        problems = list(self._problems())
        if problems:
            raise BridoError.from_problems("this model cannot be used so:", problems)

    def _problems(self) -> Iterator[str]:
        positions, limit = self.family.positions(self.model.config), self.reading.max_source_tokens
        if positions is not None and limit > positions:
            yield (
                f"reading: max_source_tokens ({limit}) is more than the model's {positions} "
                "positions: lower it"
            )
        embeddings: Any = self.model.get_input_embeddings()
        entries = embeddings.num_embeddings
        if not spells_only(self.tokenizer, entries):
            yield (
                f"the tokenizer has {len(self.tokenizer)} entries, the model {entries}: they do "
                "not belong together"
            )
        if self.pad is None:
            yield "the model lacks a pad token"
        yield from self.family.problems(self)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        reading: ReadingSettings | None = None,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> LanguageModel:
        """The model of a folder in `save_pretrained`'s format, in evaluation mode.

        Raises:
            BridoError: the folder is missing or holds no usable checkpoint, or see `__init__`.
        """
        disable_progress_bar()  # of a fraction of a second
        model: Any
        model, tokenizer = load_checkpoint(Path(folder), dtype)
        return cls(model.to(device).eval(), tokenizer, reading)

    @cached_property
    def prompt(self) -> Prompt:
        """What stands around a document."""
        return self.family.prompt(self)

    def ready_to_write(self) -> LanguageModel:
        """The same model, its weights laid out for writing token by token; not to be saved."""
        lay_out(self.model)
        return self

    def read(self, documents: Sequence[str]) -> Sources:
        """The documents as the model reads them, on the processor.

        Raises:
            ArgumentError: `documents` is one text.
        """
        if isinstance(documents, str):
            raise ArgumentError("documents must be a list of texts, not one text")
        return self.family.read(self, documents)

    def write(self, texts: Texts, sources: Sources | None, limit: int) -> Targets:
        """N texts of each of the B `sources` as the model writes them, on the processor.

        At most `limit` tokens of a text are scored; the end of a text is one of them.

        Raises:
            ArgumentError: `texts` are not equally many texts for each source.
        """
        sizes = {-1 if isinstance(own, str) else len(own) for own in texts}
        if len(sizes) > 1 or -1 in sizes:
            raise ArgumentError("texts must be a list of equally many texts for each source")
        rows = self.family.write(self, texts, sources, limit)
        lengths = torch.tensor([len(ids) - 1 for ids in rows])
        ids = padded(rows, self.pad)
        return Targets(ids.view(len(texts), -1, ids.shape[1]), lengths.view(len(texts), -1))

    def text(self, sequences: Tensor) -> list[str]:
        """The texts of written sequences [R, T], special tokens left out, white space tidied."""
        written, ends = self._ends(sequences)
        # Pads stand behind the end, and of some models neither is a special token.
        rows = [row[~end.cummax(0).values].tolist() for row, end in zip(written, ends, strict=True)]
        texts = self.tokenizer.batch_decode(
            rows, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        newline = self.family.newline or " "
        return [" ".join(text.replace(newline, " ").split()) for text in texts]

    def ended(self, sequences: Tensor) -> list[bool]:
        """Whether each written sequence [R, T] was ended, be it by force at the maximum length."""
        return self._ends(sequences)[1].any(1).tolist()

    def lengths(self, sequences: Tensor) -> list[int]:
        """The number of tokens that were written of each sequence [R, T], its end included."""
        _, ends = self._ends(sequences)
        return (~ends.cummax(1).values).sum(1).add(ends.any(1)).tolist()

    def _ends(self, sequences: Tensor) -> tuple[Tensor, Tensor]:
        """What was written of sequences [R, T], without the given tokens, and where an end is."""
        written = sequences[:, self.family.started :]
        ends = torch.tensor(end_tokens(self.model), device=written.device)
        return written, torch.isin(written, ends)

    def adapt(self, lora: LoraSettings | None, seed: int) -> None:
        """Let an adapter be trained beside the model's own weights, if settings ask for one."""
        if lora is not None:
            self.adapter = Adapter(self.model, lora, seed)

    def save(self, folder: str | Path) -> None:
        """Write model, tokenizer and generation settings into `folder`, as `load` reads them; an
        adapter goes into `folder`/adapter and is merged into the model."""
        folder = Path(folder)
        if self.adapter is not None:
            self.adapter.save(folder / "adapter")
            self.adapter.merge()
            self.adapter = None
        save(self.model, self.tokenizer, folder)


def lay_out(model: PreTrainedModel) -> None:
    """Lay a model's weights out for writing on a processor: for oneDNN if faster, or by columns."""
    if model.device.type == "cpu" and not lay_out_layers(model):
        columns_first(written_with(model))


def written_with(model: PreTrainedModel) -> list[torch.nn.Module]:
    """The modules that run at every step of a search: all but those of an encoder."""
    reading = set(model.get_encoder().modules()) if model.config.is_encoder_decoder else set()
    return [module for module in model.modules() if module not in reading]


def columns_first(modules: Iterable[torch.nn.Module]) -> None:
    """Lay the weights of the linear layers among `modules` out by columns, in place.

    Shapes and values stay what they are. A step multiplies few rows, and matrix libraries turn
    weights over for every product: with 64 to 128 rows that is a tenth to a third of the time, with
    more nothing (docs/log.md). For a model loaded to generate on a processor: training
    gains nothing, and `save_pretrained` refuses weights that lie so.
    """
    for module in modules:
        if isinstance(module, torch.nn.Linear):
            weight = module.weight.data
            column = -(-len(weight) // ALIGNMENT) | 1
            room = weight.new_zeros(weight.shape[1], column * ALIGNMENT)
            room[:, : len(weight)] = weight.T
            module.weight.data = room[:, : len(weight)].T
