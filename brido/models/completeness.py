"""Whether a stranger's checkpoint is what it seems: its files, then the model that was loaded."""

import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from brido.models.family import family_of
from brido.models.loading import MOST_UNUSED, SMALLEST_SHARE, check_place, weights
from brido.models.tokens import spells_only
from brido.utils.errors import BridoError, first_line, short, some

# Weights of these types are numbers as they stand; integers and 8 bits need a scale beside them.
_FLOATS = {"F64", "F32", "F16", "BF16"}
_POINTER = b"version https://git-lfs"


def check_folder(folder: Path) -> None:
    """Check the files of a checkpoint before anything of them is loaded.

    Raises:
        ValueError: see `check_place`; a file is a pointer of git-lfs; an index leads out of the
            folder or files of weights are missing; weights are quantized, whether settings say so
            or not.
        Exception: what a parser raises for files that are damaged.
    """
    config = folder / "config.json"
    check_place(folder)
    for path in folder.iterdir():
        if path.is_file() and path.suffix in (".safetensors", ".bin", ".json", ".model"):
            with path.open("rb") as file:
                if file.read(len(_POINTER)) == _POINTER:
                    raise ValueError(
                        f"{path.name} is a pointer of git-lfs in place of the file: `git lfs pull` "
                        "in its folder fetches that"
                    )
    settings = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else None
    if isinstance(settings, dict) and (how := settings.get("quantization_config")):
        # transformers reads some of them, but saves what cannot be loaded or trained.
        method = how.get("quant_method") if isinstance(how, dict) else how
        raise ValueError(
            f"its weights are quantized ({short(str(method))}): name the model that they were made "
            "from, or a GGUF file, whose weights are dequantized"
        )
    for path in folder.glob("*.index.json"):
        _check_index(path)
    for path in folder.glob("*.safetensors"):
        _check_types(path)


def _check_index(path: Path) -> None:
    index = json.loads(path.read_text(encoding="utf-8"))
    where = index.get("weight_map") if isinstance(index, dict) else None
    files = where.values() if isinstance(where, dict) else ()
    if bad := [name for name in files if not isinstance(name, str) or name != Path(name).name]:
        raise ValueError(f"{path.name} names {short(str(bad[0]))}, which is no file of its folder")
    held = {name for name in files if (path.parent / name).is_file()}
    if held and (missing := sorted(set(files) - held)):
        raise ValueError(
            f"{len(missing)} of {len(set(files))} files of weights are missing, such as "
            f"{missing[0]}: the folder was not copied or fetched to its end"
        )


def _check_types(path: Path) -> None:
    try:
        with safe_open(path, "pt") as held:
            names = [name for name in list(held.keys()) if name.endswith(".weight")]
            types = {name: str(held.get_slice(name).get_dtype()) for name in names}
    except SafetensorError as error:
        raise ValueError(f"{path.name} is damaged or cut off ({error})") from None
    if odd := sorted(name for name, kind in types.items() if kind not in _FLOATS):
        raise ValueError(
            f"{path.name} holds {len(odd)} weights of type {types[odd[0]]}, such as "
            f"{short(odd[0])}, and config.json has no quantization_config that says how to read "
            "them"
        )


def incomplete(
    model: Any, tokenizer: Any, found: dict[str, Any], folder: Path | None
) -> Iterator[str]:
    """What is missing from a checkpoint that was loaded from `folder`, or damaged: a sentence each.

    Missing weights would be random numbers. found: what transformers says of its weights.
    """
    if missing := [name for name in weights(found, "missing") if not computed(model, name)]:
        yield f"{len(missing)} weights are missing from the file, such as {short(missing[0])}"
    if names := weights(found, "mismatched"):
        yield f"{len(names)} weights are of another shape in the file, such as {short(names[0])}"
    unused = weights(found, "unexpected")
    if len(unused) > MOST_UNUSED * len(model.state_dict()):
        yield (
            f"{len(unused)} weights of the file belong to none of the model's layers, "
            f"{some(unused, 1)}"
        )
    if foreign := foreign_words(model, tokenizer):
        yield foreign
    try:
        family_of(model.config).special(model)
    except BridoError as error:
        yield f"generation_config.json: {error}"
    if broken := not_finite(model):
        yield f"{len(broken)} weights are NaN or infinite: {some(broken, 1)}"
    if folder and (settings := folder / "generation_config.json").is_file():
        try:
            json.loads(settings.read_text(encoding="utf-8"))
        except ValueError as error:
            # transformers would go on with defaults.
            yield f"generation_config.json is not JSON ({first_line(error)})"


def computed(model: Any, name: str) -> bool:
    """Whether the model computes a weight by a formula, and has computed it.

    Such are the sinusoids of PEGASUS and Marian, which published files leave out. The model's
    initialisation writes them alike over any numbers and with any seed. One repeated number does
    not count: norms and biases begin to learn from one.
    """
    owner, _, attribute = name.rpartition(".")
    try:
        module = model.get_submodule(owner)
    except AttributeError:
        return False
    weight = getattr(module, attribute, None)
    if not isinstance(weight, torch.Tensor) or weight.numel() < 2:
        return False
    if (weight == weight.flatten()[0]).all():
        return False
    copy = deepcopy(module)
    for seed in (0, 1):
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(seed)
            # A parameter that transformers has filled is marked, and would be left as it is.
            fresh = torch.nn.Parameter(torch.rand_like(weight), requires_grad=False)
            setattr(copy, attribute, fresh)
            model._init_weights(copy)
        if not torch.equal(getattr(copy, attribute).to(weight.dtype), weight):
            return False
    return True


def not_finite(model: torch.nn.Module) -> list[str]:
    """The names of a model's weights and buffers that contain NaN or infinity."""
    every = chain(model.named_parameters(), model.named_buffers())
    return [name for name, values in every if not values.isfinite().all()]


def foreign_words(model: Any, tokenizer: Any) -> str:
    """Why a tokenizer is not the model's; "" if it may be."""
    rows = model.get_input_embeddings().weight.shape[0]
    if len(tokenizer) >= SMALLEST_SHARE * rows and spells_only(tokenizer, rows):
        return ""
    return (
        f"the tokenizer knows {len(tokenizer):,} tokens, the model {rows:,}: they do not "
        "belong together, or files of the tokenizer are missing"
    )
