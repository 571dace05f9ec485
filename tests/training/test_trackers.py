"""Trackers: what they are told, that they change nothing, and the four real ones."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from small_project import environment
from training_runs import Noted

from brido.training import trackers
from brido.training.train import train
from brido.utils.errors import BridoError


def test_trackers_are_told_and_change_nothing(make_task, monkeypatch) -> None:
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


def test_what_is_not_installed_is_named_and_only_who_is_tracked_needs_it(
    make_task, monkeypatch
) -> None:
    monkeypatch.setattr(trackers, "find_spec", lambda name: name if name == "dvclive" else None)
    task = make_task(epochs=1, runtime={"trackers": ["wandb", "dvclive", "mlflow"]})
    train(task)
    task.tracked = {}
    with pytest.raises(BridoError, match="runtime.trackers: wandb, mlflow is not installed"):
        train(task)


# In a process of its own, where a tracker starts and ends as in a run.
RUN = """
import sys
from types import SimpleNamespace
from brido.training.devices import make_accelerator
from brido.training.trackers import trackers
from brido.work.settings import RuntimeSettings
runtime = RuntimeSettings(device="cpu", trackers=sys.argv[1:])
settings = {"alpha": 31, "validation": {"every": 5}, "names": ["a", "b"], "lora": None}
task = SimpleNamespace(name="train", runtime=runtime, tracked=settings)
accelerator = make_accelerator(runtime)
with trackers(task, accelerator, resumed=False):
    for update in (1, 2):
        accelerator.log({"update/loss": update / 2}, update)
    accelerator.log({"validation/tau": 0.25}, 2)
"""


def track(name: str, folder: Path, **variables: str) -> None:
    """Two updates and a validation, told to a real tracker in a process of its own."""
    pytest.importorskip(name)
    found = {**environment(), **variables}
    command = [sys.executable, "-c", RUN, name]
    done = subprocess.run(command, cwd=folder, env=found, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_wandb_keeps_an_offline_run(tmp_path) -> None:
    track("wandb", tmp_path, WANDB_MODE="offline", WANDB_SILENT="true")
    (file,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    content = file.read_bytes()
    for name in (b"update/loss", b"validation/tau", b"alpha"):
        assert name in content


@pytest.mark.slow
def test_mlflow_keeps_a_local_run(tmp_path) -> None:
    pytest.importorskip("sqlalchemy", reason="needs `pip install mlflow-skinny sqlalchemy alembic`")
    store = f"sqlite:///{tmp_path / 'runs.db'}"
    track("mlflow", tmp_path, MLFLOW_TRACKING_URI=store)
    from mlflow.tracking import MlflowClient

    client = MlflowClient(store)
    (experiment,) = [one for one in client.search_experiments() if one.name == "train"]
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.info.status == "FINISHED"
    losses = client.get_metric_history(run.info.run_id, "update/loss")
    assert [(one.step, one.value) for one in losses] == [(1, 0.5), (2, 1.0)]
    assert run.data.metrics["validation/tau"] == 0.25
    assert run.data.params["alpha"] == "31"


@pytest.mark.slow
def test_tensorboard_has_the_curves(tmp_path) -> None:
    track("tensorboard", tmp_path)
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / ".brido/trackers/train"))
    events.Reload()
    assert [(one.step, one.value) for one in events.Scalars("update/loss")] == [(1, 0.5), (2, 1.0)]
    assert [(one.step, one.value) for one in events.Scalars("validation/tau")] == [(2, 0.25)]


@pytest.mark.slow
def test_dvc_exp_show_has_the_rows_of_dvclive(tmp_path, monkeypatch) -> None:
    pytest.importorskip("dvclive", reason="needs `pip install dvclive`")
    monkeypatch.chdir(tmp_path)
    dvc = [sys.executable, "-m", "dvc"]
    for command in (["git", "init", "-q"], [*dvc, "init", "-q"], ["git", "commit", "-qm", "x"]):
        subprocess.run(command, check=True, capture_output=True)
    Path("dvc.yaml").write_text("stages: {}\n")
    track("dvclive", tmp_path)
    asked = [*dvc, "exp", "show", "--json"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    (metrics,) = json.loads(done.stdout)[0]["data"]["metrics"].values()
    assert metrics["data"]["update"]["loss"] == 1.0
    assert metrics["data"]["validation"]["tau"] == 0.25
    # The pipeline's file and the experiments stay as they were.
    assert Path("dvc.yaml").read_text() == "stages: {}\n"
    listed = subprocess.run([*dvc, "exp", "list"], capture_output=True, text=True, check=True)
    assert not listed.stdout.strip()
