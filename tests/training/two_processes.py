"""A training run on two gloo processes of this machine."""

import torch
from accelerate import debug_launcher
from accelerate.state import AcceleratorState, PartialState
from torch import Tensor

from brido.training.loop import train
from brido.training.task import Task


def run_in_process(task: Task) -> None:
    """What each of the forked processes does."""
    torch.set_num_threads(1)
    AcceleratorState._reset_state(reset_partial_state=True)
    train(task)
    if PartialState().is_main_process:
        torch.save(task.model.state_dict(), task.folder / "final.pt")


def on_two_processes(task: Task) -> dict[str, Tensor]:
    """The final weights of a run on two gloo processes."""
    AcceleratorState._reset_state(reset_partial_state=True)
    debug_launcher(run_in_process, (task,), num_processes=2)
    return torch.load(task.folder / "final.pt", weights_only=True)
