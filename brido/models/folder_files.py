"""What the files of a stranger's checkpoint are, looked at before anything of them is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import safe_open

from brido.utils.errors import short

# Weights of these types are numbers as they stand; integers and 8 bits need a scale beside them.
_FLOATS = {"F64", "F32", "F16", "BF16"}
_POINTER = b"version https://git-lfs"


def check_files(folder: Path, settings: Any) -> None:
    """Check that a folder holds plain files, its own alone, and weights that are what they seem.

    settings: the content of config.json.

    Raises:
        ValueError: a pipe or a device, which could be read for ever; a pointer of git-lfs; an index
            that leads out of the folder; quantized weights, whether settings say so or not.
    """
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


def _check_index(path: Path) -> None:
    index = json.loads(path.read_text(encoding="utf-8"))
    where = index.get("weight_map") if isinstance(index, dict) else None
    files = where.values() if isinstance(where, dict) else ()
    bad = [name for name in files if not isinstance(name, str) or name != Path(name).name]
    if not files or bad:
        what = f"names {short(str(bad[0]))} as a file" if bad else "names no files"
        raise ValueError(f"{path.name} {what}: it must say in which file of the folder weights are")


def _check_types(folder: Path) -> None:
    for path in folder.glob("*.safetensors"):
        if path.is_file():
            with safe_open(path, "pt") as weights:
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
