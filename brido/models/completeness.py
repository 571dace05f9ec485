"""Whether a stranger's checkpoint that was loaded is whole: missing weights are random numbers."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch

from brido.models.family import family_of
from brido.models.loading import MOST_UNUSED, SMALLEST_SHARE, weights
from brido.models.lora import not_finite
from brido.models.tokens import spells_only
from brido.utils.errors import BridoError, first_line, short, some


def computed(model: Any, name: str) -> bool:
    """Whether the model computes a weight by a formula, and has computed it.

    Such are the sinusoids of PEGASUS, Marian and FSMT, which published files leave out. The model's
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


def incomplete(
    model: Any, tokenizer: Any, found: dict[str, Any], tensors: int | None, folder: Path
) -> Iterator[str]:
    """What is missing from a checkpoint that was loaded from `folder`, or damaged: a sentence each.

    found: what transformers says of its weights; tensors: how many the files hold.
    """
    if missing := [name for name in weights(found, "missing") if not computed(model, name)]:
        yield f"{len(missing)} weights are missing from the file, such as {short(missing[0])}"
    if names := weights(found, "mismatched"):
        yield f"{len(names)} weights are of another shape in the file, such as {short(names[0])}"
    unused = weights(found, "unexpected")
    if tensors is not None and len(unused) > MOST_UNUSED * tensors:
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
    settings = folder / "generation_config.json"
    if settings.is_file():
        try:
            json.loads(settings.read_text(encoding="utf-8"))
        except ValueError as error:
            # transformers would go on with defaults.
            yield f"generation_config.json is not JSON ({first_line(error)})"


def foreign_words(model: Any, tokenizer: Any) -> str:
    """Why a tokenizer is not the model's; "" if it may be."""
    rows = model.get_input_embeddings().weight.shape[0]
    if len(tokenizer) >= SMALLEST_SHARE * rows and spells_only(tokenizer, rows):
        return ""
    return (
        f"the tokenizer knows {len(tokenizer):,} tokens, the model {rows:,}: they do not "
        "belong together, or files of the tokenizer are missing"
    )
