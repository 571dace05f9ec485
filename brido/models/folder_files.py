"""What the files of a stranger's checkpoint are, looked at before anything of them is loaded."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

from safetensors import SafetensorError, safe_open

from brido.utils.errors import short

# Weights of these types are numbers as they stand; integers and 8 bits need a scale beside them.
_FLOATS = {"F64", "F32", "F16", "BF16"}
_POINTER = b"version https://git-lfs"
_LAYERS = {"num_hidden_layers", "encoder_layers", "decoder_layers", "num_layers",
           "num_decoder_layers", "n_layer", "n_layers", "block_count"}  # fmt: skip


def check_folder(folder: Path) -> None:
    """Check that a folder holds plain files, its own alone, and weights that are what they seem.

    Raises:
        ValueError: a pipe or a device, which could be read for ever; a pointer of git-lfs; an index
            that leads out of the folder; quantized weights, whether settings say so or not; a count
            of layers that no file backs, which would be built all the same, for hours.
        Exception: what a parser raises for files that are damaged.
    """
    config = folder / "config.json"
    settings = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else None
    for path in folder.iterdir():
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise ValueError(f"{path.name} is a pipe or a device, not a file")
        if path.is_file() and path.suffix in (".safetensors", ".bin", ".json", ".model"):
            with path.open("rb") as file:
                if file.read(len(_POINTER)) == _POINTER:
                    raise ValueError(
                        f"{path.name} is a pointer of git-lfs in place of the file: `git lfs pull` "
                        "in its folder fetches that"
                    )
        if path.name.endswith(".index.json") and path.is_file():
            _check_index(path)
    if isinstance(settings, dict) and (how := settings.get("quantization_config")):
        # transformers reads some of them, but saves what cannot be loaded or trained.
        method = how.get("quant_method") if isinstance(how, dict) else how
        raise ValueError(
            f"its weights are quantized ({short(str(method))}): name the model that they were made "
            "from, or a GGUF file, whose weights are dequantized"
        )
    _check_types(folder)
    check_layers(settings, tensor_count(folder))


def _check_index(path: Path) -> None:
    index = json.loads(path.read_text(encoding="utf-8"))
    where = index.get("weight_map") if isinstance(index, dict) else None
    files = where.values() if isinstance(where, dict) else ()
    bad = [name for name in files if not isinstance(name, str) or name != Path(name).name]
    if not files or bad:
        what = f"names {short(str(bad[0]))} as a file" if bad else "names no files"
        raise ValueError(f"{path.name} {what}: it must say in which file of the folder weights are")
    held = {name for name in files if (path.parent / name).is_file()}
    if held and (missing := sorted(set(files) - held)):
        raise ValueError(
            f"{len(missing)} of {len(set(files))} files of weights are missing, such as "
            f"{missing[0]}: the folder was not copied or fetched to its end"
        )


def _check_types(folder: Path) -> None:
    for path in folder.glob("*.safetensors"):
        if path.is_file():
            with _opened(path) as weights:
                types = {
                    name: str(weights.get_slice(name).get_dtype())
                    for name in weights.keys()  # noqa: SIM118 - not a dictionary
                    if name.endswith(".weight")
                }
            if odd := sorted(name for name, kind in types.items() if kind not in _FLOATS):
                raise ValueError(
                    f"{path.name} holds {len(odd)} weights of type {types[odd[0]]}, such as "
                    f"{short(odd[0])}, and config.json has no quantization_config that says how "
                    "to read them"
                )


def _opened(path: Path) -> Any:
    try:
        return safe_open(path, "pt")
    except SafetensorError as error:
        raise ValueError(f"{path.name} is damaged or cut off ({error})") from None


def check_layers(settings: Any, tensors: int | None) -> None:
    """Raise ValueError if a count of layers is more than the number of tensors in the files."""
    for name, value in settings.items() if isinstance(settings, dict) else ():
        if isinstance(value, dict):
            check_layers(value, tensors)
        elif name in _LAYERS and tensors is not None and type(value) is int and value > tensors:
            raise ValueError(
                f"the settings say {name} {value:,}, but the files hold only {tensors:,} tensors"
            )


def tensor_count(folder: Path) -> int | None:
    """The number of tensors in a folder's weights, by their heads alone; None if they do not say.

    An older file is a zip archive with at least an entry a tensor. Nothing of it is unpacked.
    """
    count = 0
    for file in folder.glob("*.safetensors"):
        with safe_open(file, "pt") as weights:
            count += len(list(weights.keys()))
    if count:
        return count
    files = [file for file in folder.glob("pytorch_model*.bin") if file.is_file()]
    if not files or not all(map(is_zipfile, files)):
        return None
    for file in files:
        with ZipFile(file) as archive:
            count += len(archive.namelist())
    return count
