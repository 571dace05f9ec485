"""The processes, devices, number types and trackers of a run, through accelerate."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.util import find_spec

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType, InitProcessGroupKwargs
from transformers import PreTrainedModel

from brido.training.task import Task
from brido.utils.device import computing_device, inference_dtype
from brido.utils.errors import BridoError
from brido.work.settings import RuntimeSettings

# How long processes wait for one that writes a state or validates (torch's default: 10 minutes).
PATIENCE = timedelta(hours=6)
# It has a dvc.yaml of its own, which `dvc exp show` reads, and makes no experiment.
DVCLIVE = {"dir": "dvclive", "dvcyaml": "dvclive/dvc.yaml", "save_dvc_exp": False}
# Ways to run that leave a process with a part of the weights.
SHARDED = {DistributedType.FSDP, DistributedType.DEEPSPEED, DistributedType.MEGATRON_LM}


def make_accelerator(runtime: RuntimeSettings) -> Accelerator:
    """Set up accelerate for the processes and the device that `runtime` asks for.

    Matrix products run in bfloat16 under `precision: bfloat16`, and under `auto` if the device
    computes in it; weights and sums stay in float32. Never float16: PEGASUS and T5 overflow in it.
    Apple's GPUs have no float64, which scores are, so a processor trains there.

    Raises:
        BridoError: a launcher that shards the model, which `runtime.fsdp` does.
    """
    device = computing_device(runtime.device, runtime.threads)
    if device.type == "cuda" and device.index is not None:
        torch.cuda.set_device(device)
    bfloat16 = runtime.precision == "bfloat16" or (
        runtime.precision == "auto" and inference_dtype(device) == torch.bfloat16
    )
    found = Accelerator(
        cpu=device.type == "cpu",
        mixed_precision="bf16" if bfloat16 else "no",
        kwargs_handlers=[InitProcessGroupKwargs(timeout=PATIENCE)],
        log_with=list(runtime.trackers) or None,
        project_dir=".brido/trackers",
    )
    if found.distributed_type in SHARDED:
        raise BridoError(
            f"BRIDO_LAUNCH asks for {found.distributed_type.value}: launch with --multi_gpu "
            "instead, and set runtime.fsdp to true where a model is too large for one accelerator"
        )
    return found


def checkpoint_layers(model: PreTrainedModel) -> None:
    """Compute every layer's activations again in the backward pass (a third more work)."""
    if not model.supports_gradient_checkpointing:
        raise BridoError(
            f"runtime.gradient_checkpointing: a {model.config.model_type} model has none; set it "
            "to false and use runtime.candidate_micro_batch"
        )
    # transformers renamed the method; the old name warns in newer versions.
    enable = getattr(model, "activation_checkpointing_enable", None)
    (enable or model.gradient_checkpointing_enable)({"use_reentrant": False})


@contextmanager
def trackers(task: Task, accelerator: Accelerator, resumed: bool) -> Iterator[None]:
    """Start accelerate's trackers, `runtime.trackers`, for the block, if the task is tracked.

    A tracker changes no result: nothing of it is in a table, a metric or a fingerprint.

    Raises:
        BridoError: the package of a tracker is not installed, of which accelerate says nothing.
    """
    if task.tracked is not None and task.runtime.trackers:
        if missing := [name for name in task.runtime.trackers if find_spec(name) is None]:
            raise BridoError(
                f"runtime.trackers: {', '.join(missing)} is not installed: install it, or take it "
                "out of the list"
            )
        kinds = (bool, int, float, str)
        flat = {key: value for key, value in task.tracked.items() if isinstance(value, kinds)}
        own = {"dvclive": {**DVCLIVE, "resume": resumed}}
        accelerator.init_trackers(task.name, flat, own)
    try:
        yield
    finally:
        for tracker in accelerator.trackers:
            tracker.finish()
