"""Models of the Hugging Face hub: the files that are fetched, and those that are there."""

import contextlib
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, short
from brido.utils.hub_errors import hub_errors

# Everything of a repository that PyTorch models need; other frameworks' weights stay away. A chat
# template stands in tokenizer_config.json or in a file of its own, without which there is none.
_VOCABULARIES = ["*.model", "*.spm", "*.bpe", "*.codes", "prophetnet.tokenizer"]
SMALL_FILES = ["*.json", "*.txt", "*.jinja", *_VOCABULARIES]
# What says under which license a model may be used, and which languages it writes.
CARD = "README.md"
_WEIGHTS = (["*.safetensors"], ["pytorch_model*.bin"])
# Checkpoints of a training in folders of their own; Mistral's weights a second time.
_NOT_READ = ["*/*", "consolidated*"]


def fetch(name: str, revision: str | None, key: str) -> Path:
    """The folder in the Hugging Face cache that holds the model `name`; its name is the commit.

    Only PyTorch's weights are fetched, as safetensors where the repository has them. An interrupted
    download goes on where it was; without a network the cache alone is used.

    Raises:
        BridoError: see `brido.utils.hub_errors.hub_errors`.
    """
    from huggingface_hub import snapshot_download

    if "://" in name:
        raise BridoError(f"{key}.source: {name} is an address: write the hub id alone (owner/name)")
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise BridoError(f"{key}.source: the folder {name} does not exist")
    with hub_errors("model", name, revision, key):
        files = hub_files(name, revision, f"{key}.source")
        has_safe = not files or any(file.endswith(".safetensors") for file in files)
        how: dict[str, Any] = {
            "allow_patterns": [*SMALL_FILES, CARD, *_WEIGHTS[0 if has_safe else 1]],
            "ignore_patterns": _NOT_READ,
        }
        return Path(snapshot_download(name, revision=revision, **how))


def hub_files(name: str, revision: str | None, key: str) -> list[str]:
    """The files of a hub repository, folders left aside; none where the hub does not answer.

    Raises:
        BridoError: its weights are GGUF files, of which one has to be chosen.
    """
    from huggingface_hub import HfApi, errors

    files: list[str] = []
    with contextlib.suppress(OSError, errors.HTTPError):
        # What goes wrong here goes wrong again when files are fetched, or the cache answers there.
        siblings = HfApi().model_info(name, revision=revision).siblings or []
        files = [file.rfilename for file in siblings if "/" not in file.rfilename]
    found = [file for file in files if file.endswith(".gguf")]
    if found and not any(file.endswith((".safetensors", ".bin")) for file in files):
        raise BridoError(
            f"{key}: {name} holds GGUF files: fetch one (`hf download {name} {short(found[0])} "
            "--local-dir FOLDER`) and name it (FOLDER/NAME.gguf)"
        )
    return files
