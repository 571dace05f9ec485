"""Low-rank adapters (LoRA, arXiv 2106.09685) through peft: small weights beside frozen ones."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from brido.models.settings import LoraSettings
from brido.utils.atomic import write_text
from brido.utils.errors import BridoError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Adapter:
    """An adapter in a model: its weights train, the model's own are frozen.

    The model stays the object that it was, with other modules in the place of some: whoever calls
    the modules, and does not read their weights, sees the adapted model.
    """

    def __init__(self, model: PreTrainedModel, settings: LoraSettings, seed: int, key: str) -> None:
        """Put a new adapter, which changes nothing yet, into `model`; `seed` draws its start.

        key: the settings that errors name, such as `training.lora`.

        Raises:
            BridoError: a target that no layer of the model is called by.
        """
        from peft import LoraConfig, get_peft_model

        targets = _targets(model, settings.targets, key)
        config = LoraConfig(
            r=settings.rank,
            lora_alpha=settings.alpha,
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
        self._model.save_pretrained(folder, save_embedding_layers=False)
        (folder / "README.md").unlink(missing_ok=True)  # an empty form
        # peft writes a set: in any order.
        file = folder / "adapter_config.json"
        config = json.loads(file.read_text(encoding="utf-8"))
        config["target_modules"] = sorted(config["target_modules"])
        write_text(file, json.dumps(config, indent=2, sort_keys=True) + "\n")

    def merge(self) -> None:
        """Add the adapter to the model's own weights: it is an ordinary model again."""
        self._model.merge_and_unload()


def _targets(
    model: PreTrainedModel, wanted: list[str] | None, key: str
) -> dict[str, type[nn.Module]]:
    """The last names of the layers that get an adapter, with their kind; None: all that can."""
    head = model.get_output_embeddings()
    known = {
        name.rsplit(".", 1)[-1]: type(module)
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear | Conv1D) and module is not head
    }
    unknown = sorted(set(wanted or ()) - known.keys())
    if unknown:
        raise BridoError(
            f"{key}.targets: a {model.config.model_type} model has no layer called "
            f"{', '.join(unknown)}; it has {', '.join(sorted(known))} (null: all of them)"
        )
    return {name: kind for name, kind in known.items() if wanted is None or name in wanted}
