"""Two processes train as one does: same updates, same losses, same weights up to rounding."""

import csv
from collections.abc import Callable

import pytest
import torch
from accelerate import debug_launcher
from accelerate.state import AcceleratorState, PartialState
from torch import Tensor

from brido.errors import BridoError
from brido.training.loop import Task, train
from brido.training.monitor import Monitor

MakeTask = Callable[..., Task]


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


def curve(task: Task, name: str) -> list[float]:
    with task.history_file.open() as stream:
        return [float(row[name]) for row in csv.DictReader(stream)]


@pytest.mark.parametrize(
    ("model_changes", "runtime"),
    [
        # One document a chunk: 4 chunks an update, and an odd 2 in the last one.
        ({}, {"batch_tokens": 1}),
        # 3 documents a chunk: one process has the smaller chunk, or none at all.
        ({}, {"batch_tokens": 340}),
        ({"dropout": 0.2}, {"gradient_checkpointing": True}),
    ],
)
def test_two_processes_give_the_loss_curve_of_one(
    make_task: MakeTask, model_changes: dict, runtime: dict
) -> None:
    one = make_task("one", model_changes, runtime)
    train(one)
    two = make_task("two", model_changes, runtime)
    weights = on_two_processes(two)
    for name in ("loss", "cross_entropy", "contrastive", "tau"):
        assert curve(two, name) == pytest.approx(curve(one, name), rel=1e-5, abs=1e-6), name
    for name, value in one.model.state_dict().items():
        # The gradient of a key's bias is zero but for rounding, which Adam blows up.
        if not name.endswith("k_proj.bias"):
            torch.testing.assert_close(weights[name], value, rtol=1e-3, atol=1e-4)


def test_a_run_goes_on_with_another_number_of_processes(
    make_task: MakeTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make_task("one")
    train(one)
    note = Monitor.note

    def stopping(self: Monitor, report: object) -> None:
        if self.state.update == 6:
            raise BridoError("stopped")
        note(self, report)

    monkeypatch.setattr(Monitor, "note", stopping)
    with pytest.raises(BridoError):
        train(make_task("two", runtime={"checkpoint_minutes": 1e-9}))
    monkeypatch.undo()
    two = make_task("two")
    on_two_processes(two)
    assert curve(two, "loss") == pytest.approx(curve(one, "loss"), rel=1e-5)
