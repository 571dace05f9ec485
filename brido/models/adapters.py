"""LoRA adapters: weights beside a model, merged into it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from brido.models.loading import pretrained
from brido.utils.errors import BridoError, first_line, some

if TYPE_CHECKING:
    from transformers import PreTrainedModel

WEIGHTS = "adapter_model.safetensors"


def merge_adapter(model: PreTrainedModel, folder: Path, key: str) -> PreTrainedModel:
    """The model with the LoRA adapter of a PEFT folder merged into its weights.

    Weights are read from safetensors alone (the older format can hold code), and must be exactly
    those that the adapter's own settings ask for. `key` names the setting in errors.

    Raises:
        BridoError: the folder holds no such adapter, or it does not belong to this model.
    """
    from peft import PeftModel, get_peft_model_state_dict
    from safetensors import safe_open

    for name in ("adapter_config.json", WEIGHTS):
        if not (folder / name).is_file():
            raise BridoError(f"{key}: {folder} has no {name}: a folder saved by PEFT is needed")
    try:
        kind = json.loads((folder / "adapter_config.json").read_text("utf-8")).get("peft_type")
        if kind != "LORA":
            raise BridoError(f"{key}: {folder} holds a {kind} adapter; only LoRA can be merged")
        adapted = pretrained(PeftModel, model, model_id=folder, torch_device="cpu")
        wanted = get_peft_model_state_dict(adapted)
        with safe_open(folder / WEIGHTS, "pt") as file:
            held = set(file.keys())
        other = sorted(held.symmetric_difference(wanted))
    except BridoError:
        raise
    except Exception as error:
        raise BridoError(
            f"{key}: {folder} cannot be put on this model: {first_line(error)}"
        ) from error
    if other:
        raise BridoError(
            f"{key}: {folder} is of another model: {len(other)} weights fit nowhere or are "
            f"missing, {some(other, 1)}"
        )
    return adapted.merge_and_unload()
