"""A part of every weight in each process (FSDP), for models that one accelerator cannot train.

torch's `fully_shard` puts a layer's weights together where the layer runs and takes them apart
behind it. That is a meeting of all processes, so all of them must run the model equally often, and
everything here that looks at a whole weight is called by all. What is written to disk is whole: a
run goes on with another number of processes, sharded or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (
    FSDPModule,
    MixedPrecisionPolicy,
    fully_shard,
    register_fsdp_forward_method,
)
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.optim import Optimizer
from transformers import PreTrainedModel

from brido.models.family import family_of
from brido.utils.errors import BridoError
from brido.work.settings import RuntimeSettings

Found = TypeVar("Found")


def check_shardable(model: PreTrainedModel, runtime: RuntimeSettings) -> None:
    """BridoError where processes would not run the model equally often: with candidates in groups.

    Families that pack a prompt's candidates run any chunk of documents in one pass.
    """
    if not family_of(model.config).packs:
        raise BridoError(
            f"runtime.fsdp: a {model.config.model_type} model runs candidates in groups, and its "
            "processes would wait for each other: only decoder-only models whose attention takes "
            "any mask can be sharded. Set it to false: every process then holds the whole model"
        )
    if runtime.candidate_micro_batch is not None:
        raise BridoError(
            "runtime.candidate_micro_batch: with runtime.fsdp all candidates of a document run at "
            "once: write null; gradient_checkpointing and fewer batch_tokens save memory too"
        )


def shard(step: nn.Module, model: PreTrainedModel, accelerator: Accelerator) -> None:
    """Leave this process its part of the weights of `step`, which holds `model`, on its device.

    `step.within` is then what code that calls the model past `step` must run in (see `inside`).
    """
    mesh = init_device_mesh(accelerator.device.type, (accelerator.num_processes,))
    policy = MixedPrecisionPolicy()
    if accelerator.mixed_precision == "bf16":
        # Of float32 layers autocast would keep copies of its own, all of them up to the backward.
        policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32, cast_forward_inputs=False)
    # What transformers calls the modules that must stay on one device: the layers.
    names = set(model._no_split_modules or ())
    for layer in [module for module in model.modules() if type(module).__name__ in names]:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(step, mesh=mesh)
    register_fsdp_forward_method(step, "within")


def is_sharded(step: nn.Module) -> bool:
    """Whether `shard` has been here."""
    return isinstance(step, FSDPModule)


def inside(step: nn.Module, function: Callable[[], Found]) -> Found:
    """What a function returns that calls the model of `step`, without gradients.

    Of a sharded model it gets the weights outside the layers put together; all processes call this.
    """
    if not is_sharded(step):
        return function()
    found = step.within(function)
    # A backward pass would take them apart again; here is none.
    step.reshard()
    return found


def whole(tensor: Tensor) -> Tensor:
    """The tensor, put together where every process has a part: then a meeting of all."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def gathered(tensors: Mapping[str, Any], keep: bool) -> dict[str, Any]:
    """These tensors whole, one after the other, and one that has two names once; nothing where
    `keep` is false, as in processes that only help the first one."""
    found, done = {}, {}
    for name, value in tensors.items():
        full = value.detach() if isinstance(value, Tensor) else value
        if isinstance(value, DTensor):
            if id(value) not in done:
                full = whole(full)
                # All of them together may not fit beside the model.
                done[id(value)] = full.cpu() if keep else None
            full = done[id(value)]
        if keep:
            found[name] = full
    return found


def gathered_state(optimizer: Optimizer, keep: bool) -> dict[str, Any]:
    """The optimizer's state dict with whole tensors (see `gathered`)."""
    content = optimizer.state_dict()
    states = {index: gathered(state, keep) for index, state in content["state"].items()}
    return content | {"state": states}


def as_there(value: Any, there: Tensor) -> Any:
    """A whole tensor, which every process has, cut as the one whose place it takes."""
    if not isinstance(there, DTensor) or value.shape != there.shape:
        return value
    value = value.to(there.device, there.dtype)
    part = distribute_tensor(value, there.device_mesh, there.placements, src_data_rank=None)
    return part.clone()  # of a view the whole would stay


def load_state(optimizer: Optimizer, content: dict[str, Any]) -> None:
    """Put what `gathered_state` returned into an optimizer of the same weights."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    states = {
        index: {name: as_there(value, weights[index]) for name, value in state.items()}
        for index, state in content["state"].items()
    }
    optimizer.load_state_dict(content | {"state": states})


def put_together(model: PreTrainedModel, keep: bool) -> None:
    """Make the weights whole tensors on the processor, where `keep`: adapters can be merged into it
    then, and it can be saved, not moved and not run. Elsewhere it is left with nothing.
    """
    done: dict[Tensor, nn.Parameter] = {}
    for module in model.modules():
        for name, weight in list(module.named_parameters(recurse=False)):
            if weight not in done:  # tied weights stay tied
                full = whole(weight.detach())
                full = full.cpu() if keep else full.new_empty(0)
                done[weight] = nn.Parameter(full, weight.requires_grad)
            setattr(module, name, done[weight])


def all_finite(weights: Iterable[Tensor], accelerator: Accelerator) -> bool:
    """Whether every weight is a number, in all processes."""
    parts = (part.to_local() if isinstance(part, DTensor) else part for part in weights)
    own = torch.tensor([int(all(bool(part.isfinite().all()) for part in parts))])
    return bool(accelerator.gather(own.to(accelerator.device)).all())
