"""Both presets, shrunk only in size, run end to end against the loopback hub."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from brido import tables
from brido.settings.load import load_params

ROOT = Path(__file__).parent.parent.parent
PARTS = (
    "brido",
    "stages",
    "presets",
    "experiments",
    "dvc.yaml",
    "params.yaml",
    ".dvc",
    ".dvcignore",
    ".gitignore",
)
# Sizes alone: how many documents, updates and processes. The models are small by themselves.
SIZES: dict[str, Any] = {
    "data.hub.expected_rows": {"train": 32, "validation": 8, "test": 8},
    "documents.validation": 8,
    "training.validation.every": 2,
    "training.validation.documents": 4,
    "report.bootstrap_samples": 50,
    "runtime.device": "cpu",
    "runtime.threads": 1,
}


def shell(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command in the project's folder, as a user would type it."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HF_HOME": str(folder / "cache"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "OMP_NUM_THREADS": "1",
        "BRIDO_WORK": str(folder / "work"),
        **variables,
    }
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def shrink(path: Path) -> None:
    """Set SIZES in a params file, nothing else."""
    yaml = YAML()
    params = yaml.load(path.read_text())
    for key, value in SIZES.items():
        *sections, last = key.split(".")
        place = params
        for section in sections:
            place = place[section]
        place[last] = value
    with path.open("w") as stream:
        yaml.dump(params, stream)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A fresh copy of the project in a Git repository of its own."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "cache", "tmp")
            shutil.copytree(source, folder / name, ignore=ignored)
        elif source.exists():
            shutil.copy(source, folder / name)
    for command in (["git", "init", "-q"], ["git", "add", "-A"]):
        assert shell(folder, *command).returncode == 0
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    assert shell(folder, "git", *identity, "commit", "-qm", "start").returncode == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xsum", "cnndm"])
def test_a_preset_runs_end_to_end_and_then_without_a_network(hub, project: Path, name: str):
    server, address = hub
    done = shell(project, sys.executable, "-m", "brido", "preset", name)
    assert done.returncode == 0, done.stderr
    shrink(project / "params.yaml")
    done = shell(project, "dvc", "repro", HF_ENDPOINT=address)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    params = load_params(project / "params.yaml")
    for system in params.systems:
        numbers = json.loads((project / "metrics" / "systems" / f"{system}.json").read_text())
        assert 0 <= numbers["mentions"]["unsupported"] <= 1
        if system != "reference":  # ROUGE with itself says nothing
            assert 0 <= numbers["rouge"]["r1"] <= 100
        rows = tables.read_rows(
            project / "data" / "decoded" / system / "test.parquet", tables.DECODED, ""
        )
        assert len(rows) == 8
    candidates = tables.read_rows(
        project / "data" / "candidates" / "base" / "train.parquet", tables.CANDIDATES, ""
    )
    assert [len(row["candidates"]) for row in candidates] == [32] * 32
    for system in ("base", "brio"):
        record = json.loads((project / "data" / "checkpoints" / system / "source.json").read_text())
        repository = server.repositories["models", params.checkpoints[system].source]
        assert record["commit"] == repository.commit

    assert "Stage 'download' didn't change" in shell(project, "dvc", "repro").stdout
    server.requests.clear()
    done = shell(project, "dvc", "repro", "-f", "-s", "download", "checkpoint", HF_HUB_OFFLINE="1")
    assert done.returncode == 0, done.stderr[-3000:]
    assert not server.requests
