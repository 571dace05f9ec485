"""Trackers: what they are told, that they change nothing, and DVCLive's own settings."""

import math

import torch
from training_runs import Noted

from brido.training.train import train


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
