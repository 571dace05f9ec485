"""Trackers: what they are told, that they change nothing, and two real ones."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from brido.likelihood import candidate_log_likelihood
from brido.training import trackers
from brido.training.loop import train
from brido.training.trackers import Trackers, Watch
from brido.utils.errors import BridoError


class Noted:
    """A tracker that keeps what it is told."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, dict[str, float]]] = []
        self.finished = False

    def log(self, values: dict[str, float], step: int) -> None:
        self.rows.append((step, values))

    def finish(self) -> None:
        self.finished = True


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    """The tracker that every name stands for."""
    tracker = Noted()
    monkeypatch.setattr(trackers, "_start", lambda *_: tracker)
    monkeypatch.setattr(trackers, "find_spec", lambda _: True)
    return tracker


def watched(task, own: list[str]) -> Watch:
    documents = list(task.validation)
    return Watch(task.language, documents, lambda: own, 16, task.folder / "own.json")


def test_trackers_are_told_and_change_nothing(make_task, noted) -> None:
    plain = make_task("plain", {"dropout": 0.1})
    train(plain)
    task = make_task("tracked", {"dropout": 0.1})
    own = [document.candidates[1] for document in task.validation]
    task.trackers = Trackers(["wandb"], "train", {}, watched(task, own))
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
        assert {f"validation/log_p_{name}" for name in ("elected", "rest", "own_output")} < {
            *values
        }
        assert values["validation/tied_documents"] == 0
        assert all(math.isfinite(value) for value in values.values())
    assert len({values["validation/log_p_elected"] for _, values in validations}) == 3


def test_what_is_watched_is_log_p_a_token(make_task) -> None:
    task = make_task()
    model, documents = task.model.eval(), list(task.validation)
    own = [document.candidates[-1] for document in documents]
    found = watched(task, own)(0, torch.no_grad)
    batch = task.batches.batch(documents)
    with torch.no_grad():
        likelihood = candidate_log_likelihood(
            model, batch.sources.ids, batch.sources.mask, batch.targets.ids[:, 1:], 1.0,
            batch.targets.lengths[:, 1:],
        )  # fmt: skip
    assert found["log_p_elected"] == pytest.approx(likelihood[:, 0].mean().item(), rel=1e-5)
    assert found["log_p_rest"] == pytest.approx(likelihood[:, 1:].mean().item(), rel=1e-5)
    assert found["log_p_own_output"] == pytest.approx(likelihood[:, -1].mean().item(), rel=1e-5)
    # Later, and in a run that goes on, base's own output stays what it was.
    assert watched(task, ["w1"] * 9)(5, torch.no_grad) == found


def test_a_tracker_that_is_not_installed_is_one_sentence(monkeypatch) -> None:
    monkeypatch.setattr(trackers, "find_spec", lambda name: name if name == "dvclive" else None)
    with pytest.raises(BridoError, match="runtime.trackers: wandb, mlflow is not installed: pip"):
        Trackers(["wandb", "dvclive", "mlflow"], "train", {})


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder apart from those of runs: a run removes old ones beside it."""
    return tmp_path_factory.mktemp("project")


@pytest.mark.slow
def test_tensorboard_has_the_curves(make_task, project, monkeypatch) -> None:
    pytest.importorskip("tensorboard", reason="needs `pip install tensorboard`")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.chdir(project)
    task = make_task()
    task.trackers = Trackers(["tensorboard"], "train", {})
    train(task)
    task.trackers.finish()
    events = EventAccumulator(str(project / ".brido/trackers/tensorboard/train"))
    events.Reload()
    assert [event.step for event in events.Scalars("update/loss")] == list(range(1, 11))
    assert [event.step for event in events.Scalars("validation/tau")] == [0, 5, 10]


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
