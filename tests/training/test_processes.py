"""Two processes train as one does: same updates, same losses, same weights up to rounding."""

import csv
from collections.abc import Callable

import pytest
import torch
from accelerate.utils import DistributedType
from training_helpers import kill_at
from two_processes import on_two_processes

from brido.training import devices
from brido.training.contrastive import ContrastiveTask
from brido.training.loop import train
from brido.utils.errors import BridoError

MakeTask = Callable[..., ContrastiveTask]


def curve(task: ContrastiveTask, name: str) -> list[float]:
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
    kill_at(monkeypatch, 6, BridoError)
    with pytest.raises(BridoError):
        train(make_task("two", runtime={"checkpoint_minutes": 1e-9}))
    monkeypatch.undo()
    two = make_task("two")
    on_two_processes(two)
    assert curve(two, "loss") == pytest.approx(curve(one, "loss"), rel=1e-5)


def test_launchers_that_shard_the_model_are_refused(
    make_task: MakeTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices.Accelerator, "distributed_type", DistributedType.FSDP)
    with pytest.raises(BridoError, match="asks for FSDP: launch with --multi_gpu"):
        train(make_task("sharded"))
