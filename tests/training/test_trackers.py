"""Trackers: what they are told, that they change nothing, and DVCLive's own settings."""

import math

import pytest
import torch
from training_runs import Noted

from brido.training import devices
from brido.training.train import train
from brido.utils.errors import BridoError


def test_trackers_are_told_and_change_nothing(make_task, monkeypatch):
    plain = make_task("plain", {"dropout": 0.1})
    train(plain)
    noted = Noted.started(monkeypatch)
    task = make_task("tracked", {"dropout": 0.1}, {"trackers": ["wandb"]})
    task.tracked = {"gamma": 2.0, "lora": None, "validation": {"every": 5}}
    state = train(task)
    assert noted.finished
    assert noted.settings == {"gamma": 2.0}
    assert task.history_file.read_bytes() == plain.history_file.read_bytes()
    for one, other in zip(task.model.parameters(), plain.model.parameters(), strict=True):
        assert torch.equal(one, other)
    updates = [step for step, values in noted.rows if "update/loss" in values]
    assert updates == list(range(1, 11))
    validations = [(step, values) for step, values in noted.rows if "validation/tau" in values]
    assert [step for step, _ in validations] == [row["update"] for row in state.history]
    for _, values in validations:
        assert {"validation/log_p_elected", "validation/log_p_rest"} < {*values}
        assert all(math.isfinite(value) for value in values.values())


def test_what_is_not_installed_is_named_and_only_who_is_tracked_needs_it(make_task, monkeypatch):
    monkeypatch.setattr(devices, "find_spec", lambda name: name if name == "dvclive" else None)
    task = make_task(epochs=1, runtime={"trackers": ["wandb", "dvclive", "mlflow"]})
    train(task)
    task.tracked = {}
    with pytest.raises(BridoError, match="runtime.trackers: wandb, mlflow is not installed"):
        train(task)


# Two updates and a validation, in a process of its own: a tracker starts and ends as in a run.
RUN = """
from types import SimpleNamespace
from brido.training.devices import make_accelerator, trackers
from brido.work.settings import RuntimeSettings
runtime = RuntimeSettings(device="cpu", trackers=["dvclive"])
settings = {"alpha": 31, "validation": {"every": 5}, "names": ["a", "b"], "lora": None}
task = SimpleNamespace(name="train", runtime=runtime, tracked=settings)
accelerator = make_accelerator(runtime)
with trackers(task, accelerator, resumed=False):
    for update in (1, 2):
        accelerator.log({"update/loss": update / 2}, update)
    accelerator.log({"validation/tau": 0.25}, 2)
"""
