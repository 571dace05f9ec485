"""Low-rank adapters (LoRA, arXiv 2106.09685) through peft: small weights beside frozen ones."""

import json
import warnings
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from brido.models.completeness import not_finite
from brido.models.loading import pretrained
from brido.models.settings import LoraSettings
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError, parsing, short, some

# Adapters of strangers are read from this file alone.
WEIGHTS = "adapter_model.safetensors"
_TORCHS = "Error(s) in loading state_dict for PeftModel:"
_OTHER_SIZES = (
    "its weights are of other sizes than the model's: it was trained on another model, or on one "
    "with more tokens (merge it there with PEFT, and name that folder as the source)"
)


class Adapter:
    """An adapter in a model: its weights train, the model's own are frozen.

    The model stays the same object, with some of its modules replaced: a caller of the modules sees
    the adapted model, and a reader of their weights does not.
    """

    def __init__(self, model: PreTrainedModel, settings: LoraSettings, seed: int) -> None:
        """Put a new adapter, which changes nothing yet, into `model`; `seed` draws its start."""
        from peft import LoraConfig, get_peft_model

        head = model.get_output_embeddings()
        targets = {
            name.rsplit(".", 1)[-1]: type(module)
            for name, module in model.named_modules()
            if isinstance(module, nn.Linear | Conv1D) and module is not head
        }
        config = LoraConfig(
            r=settings.rank,
            lora_alpha=settings.alpha,  # type: ignore[arg-type]
            lora_dropout=settings.dropout,
            target_modules=sorted(targets),
            fan_in_fan_out=Conv1D in targets.values(),
        )
        torch.manual_seed(seed)
        with warnings.catch_warnings():
            # peft asks transformers 5 things by their former names.
            warnings.simplefilter("ignore", FutureWarning)
            self._model = get_peft_model(model, config)

    def save(self, folder: Path) -> None:
        """Write the adapter alone, as peft and vLLM read it."""
        self._model.save_pretrained(str(folder), save_embedding_layers=False)
        (folder / "README.md").unlink(missing_ok=True)  # an empty form
        # peft writes a set: in any order.
        file = folder / "adapter_config.json"
        config = json.loads(file.read_text(encoding="utf-8"))
        config["target_modules"] = sorted(config["target_modules"])
        write_text(file, json.dumps(config, indent=2, sort_keys=True) + "\n")

    def merge(self) -> None:
        """Add the adapter to the model's own weights: it is an ordinary model again."""
        self._model.merge_and_unload()


def merge_adapter(model: PreTrainedModel, folder: Path, key: str) -> PreTrainedModel:
    """The model with the LoRA adapter of a PEFT folder merged into its weights.

    Weights are read from safetensors alone (the older format can hold code), and must be exactly
    those that the adapter's own settings ask for. `key` names the setting in errors.

    Raises:
        BridoError: the folder holds no such adapter, it does not belong to this model, or the
            merged weights are not numbers.
    """
    from peft import PeftModel

    needed = "a folder saved by PEFT is needed"
    if (folder / "adapter_model.bin").is_file():
        needed = "its adapter_model.bin may hold code: load it with PEFT, and save it anew"
    for name in ("adapter_config.json", WEIGHTS):
        if not (folder / name).is_file():
            raise BridoError(f"{key}: {folder} has no {name}: {needed}")
    sentence = f"{key}: {folder} cannot be put on this model: "
    with parsing(lambda reason: sentence + reason.replace(_TORCHS, _OTHER_SIZES)):
        _check_adapter(model, folder, key)
        adapted = pretrained(PeftModel, model, model_id=folder, torch_device="cpu")
        _check_weights(adapted, folder, key)
        merged = adapted.merge_and_unload()
    if broken := not_finite(merged):
        raise BridoError(
            f"{key}: merged with {folder}, {len(broken)} weights are NaN or infinite, such as "
            f"{some(broken, 1)}: its weights or its lora_alpha are damaged"
        )
    return merged


def _check_adapter(model: PreTrainedModel, folder: Path, key: str) -> None:
    """Raise BridoError if the settings are not LoRA's, or weights change that others share."""
    kind = json.loads((folder / "adapter_config.json").read_text("utf-8")).get("peft_type")
    if kind != "LORA":
        raise BridoError(
            f"{key}: {folder} holds a {short(str(kind))} adapter; only LoRA can be merged"
        )
    head: Any = model.get_output_embeddings()
    shared = [
        name
        for name, module in model.named_modules(remove_duplicate=False)
        if head is not None and getattr(module, "weight", None) is head.weight
    ]
    with safe_open(folder / WEIGHTS, "pt") as file:
        held = list(file.keys())
    changed = [one for one in held if any(f".{name}.lora_" in one for name in shared)]
    if len(shared) > 1 and changed:
        # The change of one would be the other's too.
        raise BridoError(
            f"{key}: {folder} changes weights that embeddings and output layer share, "
            f"{some(changed, 1)}: merge it with PEFT, and name that folder as the source"
        )


def _check_weights(adapted: Any, folder: Path, key: str) -> None:
    """Raise BridoError if the file's weights are not exactly those of the adapted model."""
    from peft import get_peft_model_state_dict

    with safe_open(folder / WEIGHTS, "pt") as file:
        held = set(file.keys())
    # Else PEFT asks the hub for the model that the file names.
    needed = set(get_peft_model_state_dict(adapted, save_embedding_layers=False))
    # An adapter may bring embeddings of its own, which PEFT puts in the place of the model's.
    other = sorted((needed - held) | (held - needed - set(adapted.state_dict())))
    if other:
        raise BridoError(
            f"{key}: {folder} is of another model: {len(other)} weights fit nowhere or are "
            f"missing, {some(other, 1)}"
        )
