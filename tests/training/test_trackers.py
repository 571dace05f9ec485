"""Trackers: what they are told, that they change nothing, and the four real ones."""

import json
import math
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from small_project import environment
from training_runs import Noted

from brido.training import trackers
from brido.training.loop import train
from brido.training.trackers import Trackers
from brido.utils.errors import BridoError


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    """The tracker that every name stands for."""
    tracker = Noted()
    monkeypatch.setattr(trackers, "_start", lambda *_: tracker)
    monkeypatch.setattr(trackers, "find_spec", lambda _: True)
    return tracker


def test_trackers_are_told_and_change_nothing(make_task, noted) -> None:
    plain = make_task("plain", {"dropout": 0.1})
    train(plain)
    task = make_task("tracked", {"dropout": 0.1})
    task.trackers = Trackers(["wandb"], "train", {})
    state = train(task)
    task.trackers.finish()
    assert noted.finished
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
    assert len({values["validation/log_p_elected"] for _, values in validations}) == 3


def test_a_tracker_that_is_not_installed_is_one_sentence(monkeypatch) -> None:
    monkeypatch.setattr(trackers, "find_spec", lambda name: name if name == "dvclive" else None)
    with pytest.raises(BridoError, match="runtime.trackers: wandb, mlflow .* wandb mlflow-skinny"):
        Trackers(["wandb", "dvclive", "mlflow"], "train", {})


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder apart from those of runs: a run removes old ones beside it."""
    return tmp_path_factory.mktemp("project")


# In a process of its own, where a tracker starts and ends as in a run. A task has made an
# accelerator before.
RUN = """
import sys
from accelerate.state import PartialState
from brido.training.state import UpdateReport
from brido.training.trackers import Trackers
PartialState(cpu=True)
nested = {"alpha": 31, "validation": {"every": 5, "documents": None}, "names": ["a", "b"]}
trackers = Trackers(sys.argv[1:], "train", nested)
for update in (1, 2):
    trackers.update(update, UpdateReport(*[update / 2] * len(UpdateReport._fields)))
trackers.validation({"update": 2, "tau": 0.25, "top1": float("nan")})
trackers.finish()
"""


def track(name: str, folder: Path, **variables: str) -> None:
    """Two updates and a validation, told to a real tracker in a process of its own."""
    found = {**environment(), **variables}
    command = [sys.executable, "-c", RUN, name]
    done = subprocess.run(command, cwd=folder, env=found, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _records(content: bytes) -> Iterator[bytes]:
    """The records of wandb's file: LevelDB's log of one block, behind a header of seven bytes."""
    assert len(content) < 32768
    place = 7
    while place + 7 <= len(content):
        length, kind = struct.unpack_from("<HB", content, place + 4)
        assert kind == 1  # the whole record
        yield content[place + 7 : place + 7 + length]
        place += 7 + length


@pytest.mark.slow
def test_wandb_keeps_an_offline_run(project) -> None:
    pytest.importorskip("wandb", reason="needs `pip install wandb`")
    from wandb.proto.wandb_internal_pb2 import Record

    track("wandb", project, WANDB_MODE="offline", WANDB_SILENT="true")
    (file,) = project.glob("wandb/offline-run-*/run-*.wandb")
    rows, settings = {}, {}
    for data in _records(file.read_bytes()):
        record = Record()
        record.ParseFromString(data)
        row = {"/".join(i.nested_key) or i.key: i.value_json for i in record.history.item}
        rows.setdefault(int(row.pop("_step", -1)), {}).update(row)
        settings |= {item.key: json.loads(item.value_json) for item in record.config.update}
    assert float(rows[1]["update/loss"]) == 0.5
    assert float(rows[2]["update/loss"]) == 1
    assert float(rows[2]["validation/tau"]) == 0.25
    assert "validation/top1" not in rows[2]
    assert settings["alpha"] == 31


@pytest.mark.slow
def test_mlflow_keeps_a_local_run(project) -> None:
    pytest.importorskip("mlflow", reason="needs `pip install mlflow-skinny sqlalchemy alembic`")
    pytest.importorskip("sqlalchemy", reason="needs `pip install sqlalchemy`")
    from mlflow.tracking import MlflowClient

    store = f"sqlite:///{project / 'runs.db'}"
    track("mlflow", project, MLFLOW_TRACKING_URI=store)
    client = MlflowClient(store)
    (experiment,) = [one for one in client.search_experiments() if one.name == "train"]
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.info.status == "FINISHED"
    losses = client.get_metric_history(run.info.run_id, "update/loss")
    assert [(one.step, one.value) for one in losses] == [(1, 0.5), (2, 1.0)]
    assert run.data.metrics["validation/tau"] == 0.25
    assert run.data.params["alpha"] == "31"


@pytest.mark.slow
def test_tensorboard_has_the_curves(project) -> None:
    pytest.importorskip("tensorboard", reason="needs `pip install tensorboard`")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    track("tensorboard", project)
    events = EventAccumulator(str(project / ".brido/trackers/tensorboard/train"))
    events.Reload()
    assert [(one.step, one.value) for one in events.Scalars("update/loss")] == [(1, 0.5), (2, 1.0)]
    assert [(one.step, one.value) for one in events.Scalars("validation/tau")] == [(2, 0.25)]
    assert "validation/top1" not in events.Tags()["scalars"]


@pytest.mark.slow
def test_dvclive_runs_in_a_process_of_its_own(project) -> None:
    pytest.importorskip("dvclive", reason="needs `pip install dvclive`")
    track("dvclive", project)
    assert any((project / "dvclive").rglob("*"))


@pytest.mark.slow
def test_dvc_exp_show_has_the_rows_of_dvclive_while_training_runs(
    make_task, project, monkeypatch
) -> None:
    pytest.importorskip("dvclive", reason="needs `pip install dvclive`")
    monkeypatch.chdir(project)
    dvc = [sys.executable, "-m", "dvc"]
    for command in (["git", "init", "-q"], [*dvc, "init", "-q"], ["git", "commit", "-qm", "x"]):
        subprocess.run(command, check=True, capture_output=True)
    Path("dvc.yaml").write_text("stages: {}\n")
    shown = {}
    task = make_task()
    task.trackers = Trackers(["dvclive"], "train", {})
    update = task.trackers.update

    def look(number, report):
        update(number, report)
        if number == 7:
            asked = [*dvc, "exp", "show", "--json"]
            done = subprocess.run(asked, capture_output=True, text=True, check=True)
            shown.update(json.loads(done.stdout)[0]["data"]["metrics"])

    monkeypatch.setattr(task.trackers, "update", look)
    train(task)
    task.trackers.finish()
    (metrics,) = (found["data"] for found in shown.values())
    assert metrics["step"] == 7
    assert metrics["update"]["loss"] > 0
    assert -1 <= metrics["validation"]["tau"] <= 1
    # The pipeline's file and the experiments stay as they were.
    assert Path("dvc.yaml").read_text() == "stages: {}\n"
    listed = subprocess.run([*dvc, "exp", "list"], capture_output=True, text=True, check=True)
    assert not listed.stdout.strip()
