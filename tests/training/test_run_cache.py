"""Finished runs stay, the newest ones, within a number and a size."""

import os
from pathlib import Path

import pytest

from brido.training import run_cache


def finished(folder: Path, age: int, size: int = 10) -> Path:
    """A run that was finished `age` seconds ago."""
    folder.mkdir(parents=True)
    file = folder / run_cache.FINISHED
    file.write_bytes(b"0" * size)
    os.utime(file, (1e9 - age, 1e9 - age))
    return folder


def left(folder: Path) -> set[str]:
    return {item.name for item in folder.iterdir()}


def test_the_newest_runs_stay_and_unfinished_ones_go(tmp_path: Path) -> None:
    for age in range(6):
        finished(tmp_path / f"run{age}", age)
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "unfinished/state.pt").touch()
    run_cache.prune(tmp_path / "this")  # it is about to begin, the fourth
    assert left(tmp_path) == {"run0", "run1", "run2"}
    run_cache.prune(tmp_path / "run2")
    assert left(tmp_path) == {"run0", "run1", "run2"}


def test_large_runs_prune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_cache, "CACHED_BYTES", 100)
    finished(tmp_path / "now", 0, 60)
    for age, size in ((1, 30), (2, 30), (3, 5)):
        finished(tmp_path / f"run{age}", age, size)
    run_cache.prune(tmp_path / "now")
    assert left(tmp_path) == {"now", "run1"}
    monkeypatch.setattr(run_cache, "CACHED_BYTES", 1)
    run_cache.prune(tmp_path / "now")
    assert left(tmp_path) == {"now"}


def test_the_code_of_the_rooms_is_part_of_a_run() -> None:
    assert len(run_cache.code_digest()) == 16
    folder = Path(run_cache.brido.__file__).parent
    assert all((folder / room).is_dir() for room in run_cache.ROOMS)
