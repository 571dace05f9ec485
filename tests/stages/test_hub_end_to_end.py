"""Both presets, shrunk only in size, run end to end against the loopback hub."""

import json
import sys
from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides
from dvc_project import copy_project, run

from brido import tables
from brido.settings.load import load_params

# Sizes alone: how many documents, updates and processes. The models are small by themselves.
SIZES = [
    "documents.validation=8",
    "training.validation.every=2",
    "training.validation.documents=4",
    "+report.bootstrap_samples=50",
    "+runtime.device=cpu",
    "runtime.threads=1",
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh copy of the project, whose commands know no other cache and no other hub."""
    for name in ("HF_ENDPOINT", "HF_HUB_OFFLINE", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    monkeypatch.setenv("BRIDO_WORK", str(tmp_path / "work"))
    (tmp_path / "project").mkdir()
    return copy_project(tmp_path / "project")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xsum", "cnndm"])
def test_a_preset_runs_end_to_end_and_then_without_a_network(hub, project: Path, name: str):
    server, address = hub
    run(project, sys.executable, "-m", "brido", "preset", name)
    apply_overrides(project / "params.yaml", SIZES)
    run(project, "dvc", "repro", HF_ENDPOINT=address)

    params = load_params(project / "params.yaml")
    measured = json.loads((project / "metrics" / "intervals.json").read_text())["systems"]
    for system in params.all_systems:
        numbers = measured[system]
        assert 0 <= numbers["mentions"]["unsupported"]["mean"] <= 1
        if system != "reference":  # ROUGE with itself says nothing
            assert 0 <= numbers["rouge"]["r1"]["mean"] <= 100
        rows = tables.read_rows(
            project / "data" / "decoded" / system / "test.parquet", tables.DECODED, ""
        )
        assert len(rows) == 8
    candidates = tables.read_rows(
        project / "data" / "candidates" / "base" / "train.parquet", tables.CANDIDATES, ""
    )
    assert [len(row["candidates"]) for row in candidates] == [32] * 32
    for system in ("base", "published_brio"):
        record = json.loads((project / "data" / "checkpoints" / system / "source.json").read_text())
        repository = server.repositories["models", params.checkpoints[system].source]
        assert record["commit"] == repository.commit

    server.requests.clear()
    run(project, "dvc", "repro", "-f", "-s", "download", "checkpoint@base", HF_HUB_OFFLINE="1")
    assert not server.requests
