"""The processes of a run, and what each of them holds of the model.

`Parallel`: every process holds the whole model; one process alone is the simplest case. `Sharded`
(FSDP, `runtime.fsdp`): every process holds a part of every weight, for models that one accelerator
cannot train. Everything that differs between the two is a method here.

torch's `fully_shard` gathers a layer's weights where the layer runs and frees them behind it. All
processes take part in that, so all of them must run the model equally often, and all of them call
what looks at a whole weight. Files hold whole weights: a run goes on with another number of
processes, sharded or not.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (
    MixedPrecisionPolicy,
    fully_shard,
    register_fsdp_forward_method,
)
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.optim import Optimizer
from transformers import PreTrainedModel

from brido.models.family import family_of
from brido.training.devices import make_accelerator
from brido.training.task import Loss
from brido.utils.errors import BridoError
from brido.work.settings import RuntimeSettings

MakeOptimizer = Callable[[list[nn.Parameter]], Optimizer]


class Parallel:
    """Processes that hold the whole model each, or one process."""

    # What the first line of a run says about its processes.
    note = ""
    # Whether candidates of a document may run in groups, one after the other.
    splits_candidates = True

    def __init__(self, accelerator: Accelerator, runtime: RuntimeSettings) -> None:
        self.accelerator, self.runtime = accelerator, runtime
        self.device, self.is_main = accelerator.device, accelerator.is_main_process
        self.index, self.count = accelerator.process_index, accelerator.num_processes

    def prepare(self, loss: Loss, make_optimizer: MakeOptimizer) -> tuple[nn.Module, Optimizer]:
        """Put the model of `loss` on its device, and make the optimizer of what it trains."""
        return self.accelerator.prepare(loss, make_optimizer(trainable(loss)))

    def measure(
        self, loss: nn.Module, function: Callable[[], dict[str, float]]
    ) -> dict[str, float]:
        """Call `function`, which may run the model of `loss` without gradients, in the first
        process while the others wait; all get its numbers."""
        found = function() if self.is_main else {}
        return broadcast_object_list([found])[0]

    def whole(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        """Return tensors as they are written to disk, in processes that do not write nothing.

        What is in parts is gathered, one after the other, and one that has two names once.
        """
        found, done = {}, {}
        for name, value in tensors.items():
            if isinstance(value, DTensor):
                if id(value) not in done:
                    full = _full(value.detach())
                    # All of them together may not fit beside the model.
                    done[id(value)] = full.cpu() if self.is_main else None
                found[name] = done[id(value)]
            else:
                found[name] = value.detach() if isinstance(value, Tensor) else value
        return found if self.is_main else {}

    def own(self, value: Any, there: Tensor) -> Any:
        """Return what this process holds of a whole tensor that takes the place of `there`."""
        if not isinstance(there, DTensor) or value.shape != there.shape:
            return value
        value = value.to(there.device, there.dtype)
        part = distribute_tensor(value, there.device_mesh, there.placements, src_data_rank=None)
        return part.clone()  # a view would keep the whole tensor

    def all_finite(self, weights: Iterable[Tensor]) -> bool:
        """Whether no weight of any process is NaN or infinite."""
        own = (part.to_local() if isinstance(part, DTensor) else part for part in weights)
        finite = torch.tensor([int(all(bool(weight.isfinite().all()) for weight in own))])
        return bool(self.accelerator.gather(finite.to(self.device)).all())

    def collect(self, model: PreTrainedModel) -> None:
        """Give the first process the whole model, to be saved."""

    def optimizer_state(self, optimizer: Optimizer) -> dict[str, Any]:
        """Return the optimizer's state dict with whole tensors; all processes call this."""
        content = optimizer.state_dict()
        states = {index: self.whole(state) for index, state in content["state"].items()}
        return content | {"state": states}

    def load_optimizer(self, optimizer: Optimizer, content: dict[str, Any]) -> None:
        """Put what `optimizer_state` returned into an optimizer of the same weights."""
        weights = [weight for group in optimizer.param_groups for weight in group["params"]]
        states = {
            index: {name: self.own(value, weights[index]) for name, value in state.items()}
            for index, state in content["state"].items()
        }
        optimizer.load_state_dict(content | {"state": states})

    def check_same_start(self, update: int) -> None:
        """Raise BridoError if processes start at different updates."""
        if self.count == 1:
            return
        start = broadcast_object_list([update])[0]
        agrees = torch.tensor([int(start == update)], device=self.device)
        if not bool(self.accelerator.gather(agrees).all()):
            raise BridoError(
                f"this process starts at update {update}, the first one at {start}: all machines "
                "must see the same work folder (set BRIDO_WORK to a shared one)"
            )

    def agree(self, received: int, due: bool) -> tuple[int, bool]:
        """Return the signal that any process received (0: none), and `due` of the first process.

        All processes get the same answer: each has a clock of its own, and writing a state may take
        all of them.
        """
        if self.count == 1:
            return received, due
        own = torch.tensor([[received, int(due and self.is_main)]], device=self.device)
        number, first = self.accelerator.gather(own).amax(0)
        return int(number), bool(first)


class Sharded(Parallel):
    """Processes that hold a part of every weight each (FSDP2)."""

    note = ", a part of the model in each"
    splits_candidates = False

    def prepare(self, loss: Loss, make_optimizer: MakeOptimizer) -> tuple[nn.Module, Optimizer]:
        """See Parallel; raises BridoError if the model cannot be sharded."""
        check_shardable(loss.model, self.runtime)
        mesh = init_device_mesh(self.device.type, (self.count,))
        policy = MixedPrecisionPolicy()
        if self.accelerator.mixed_precision == "bf16":
            # Autocast would keep copies of float32 layers, all of them up to the backward pass.
            policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32, cast_forward_inputs=False)
        # What transformers calls the modules that must stay on one device: the layers.
        names = set(loss.model._no_split_modules or ())
        layers = [module for module in loss.model.modules() if type(module).__name__ in names]
        for layer in layers:
            fully_shard(layer, mesh=mesh, mp_policy=policy)
        fully_shard(loss, mesh=mesh)
        register_fsdp_forward_method(loss, "call")
        return loss, make_optimizer(trainable(loss))

    def measure(
        self, loss: nn.Module, function: Callable[[], dict[str, float]]
    ) -> dict[str, float]:
        """See Parallel: every process has a part of the model, so all of them call `function`."""
        sharded: Any = loss  # a Loss that `prepare` made an FSDPModule of
        # The weights outside the layers are gathered for it.
        found = sharded.call(function)
        # A backward pass would free them again; there is none.
        sharded.reshard()
        return broadcast_object_list([found])[0]

    def collect(self, model: PreTrainedModel) -> None:
        """See Parallel: whole weights on the processor, so that adapters can be merged; the model
        cannot be moved or run any more. The other processes are left with nothing."""
        done: dict[Tensor, nn.Parameter] = {}
        for module in model.modules():
            for name, weight in list(module.named_parameters(recurse=False)):
                if weight not in done:  # tied weights stay tied
                    full = _full(weight.detach())
                    full = full.cpu() if self.is_main else full.new_empty(0)
                    done[weight] = nn.Parameter(full, weight.requires_grad)
                setattr(module, name, done[weight])


def make_parallel(runtime: RuntimeSettings) -> Parallel:
    """Return the processes that a launcher started, as `runtime` uses them."""
    accelerator = make_accelerator(runtime)
    kind = Sharded if runtime.fsdp and accelerator.num_processes > 1 else Parallel
    return kind(accelerator, runtime)


def check_shardable(model: PreTrainedModel, runtime: RuntimeSettings) -> None:
    """Raise BridoError if processes would not run the model equally often.

    They do where all candidates of a prompt lie in one row behind it.
    """
    if not family_of(model.config).one_row:
        raise BridoError(
            f"runtime.fsdp: a {model.config.model_type} model cannot be sharded; only decoder-only "
            "models whose attention takes any mask can. Set it to false: every process then holds "
            "the whole model"
        )
    if runtime.candidate_micro_batch is not None:
        raise BridoError(
            "runtime.candidate_micro_batch: with runtime.fsdp all candidates of a document run at "
            "once: write null; gradient_checkpointing and fewer batch_tokens save memory too"
        )


def trainable(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that need gradients."""
    return [weight for weight in module.parameters() if weight.requires_grad]


def _full(tensor: Tensor) -> Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
