"""`dvc push` and `dvc pull`: what stages made travels to another clone, which runs nothing."""

from pathlib import Path

import pytest
from dvc_project import commit, copy_project, run

TARGETS = ("download", "checkpoint@base")
SMALL = {
    "data.world.train": 8,
    "data.world.validation": 4,
    "data.world.test": 4,
    "checkpoints.base.embedded.world.documents": 20,
    "checkpoints.base.embedded.d_model": 16,
    "checkpoints.base.embedded.epochs": 1,
}


def tables(folder: Path) -> dict[str, bytes]:
    """Every file of corpus and checkpoint."""
    folders = (folder / "data" / name for name in ("corpus", "checkpoints"))
    found = (path for place in folders for path in place.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found if path.is_file()}


@pytest.mark.slow
def test_another_clone_pulls_what_was_pushed_and_runs_nothing(tmp_path: Path):
    (tmp_path / "ours").mkdir()
    ours, theirs = copy_project(tmp_path / "ours"), tmp_path / "theirs"
    settings = [part for key, value in SMALL.items() for part in ("-S", f"{key}={value}")]
    run(ours, "dvc", "exp", "run", *settings, *TARGETS)
    run(ours, "dvc", "remote", "add", "-d", "store", str(tmp_path / "store"))
    assert "pushed" in run(ours, "dvc", "push", *TARGETS)
    commit(ours, "small")
    run(tmp_path, "git", "clone", "-q", "ours", "theirs")
    assert tables(theirs) == {}
    run(theirs, "dvc", "pull", *TARGETS)
    assert tables(theirs) == tables(ours)
    assert "data/checkpoints/base/model.safetensors" in tables(theirs)
    assert "Running stage" not in run(theirs, "dvc", "repro", *TARGETS)
    # What is not in the store is said, and nothing half of it stays.
    for path in (tmp_path / "store").rglob("*"):
        if path.is_file():
            path.unlink()
    third = tmp_path / "third"
    run(tmp_path, "git", "clone", "-q", "ours", "third")
    assert "missing" in run(third, "dvc", "pull", *TARGETS, code=1).lower()
    assert tables(third) == {}
