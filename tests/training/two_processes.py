"""A training run on two gloo processes of this machine."""

from pathlib import Path

import torch
from accelerate import debug_launcher
from accelerate.state import AcceleratorState, PartialState
from torch import Tensor

from brido.training.loop import train
from brido.training.task import Task


def run_in_process(task: Task, save: Path | None) -> None:
    """What each of the forked processes does."""
    torch.set_num_threads(1)
    AcceleratorState._reset_state(reset_partial_state=True)
    train(task)
    if PartialState().is_main_process:
        torch.save(task.model.state_dict(), task.folder / "final.pt")
        if save is not None:
            task.language.save(save)


def on_two_processes(task: Task, save: Path | None = None) -> dict[str, Tensor]:
    """The final weights of a run on two gloo processes; the model is saved as a folder too."""
    AcceleratorState._reset_state(reset_partial_state=True)
    debug_launcher(run_in_process, (task, save), num_processes=2)
    return torch.load(task.folder / "final.pt", weights_only=True)
