"""What a killed write leaves behind, and that the next one clears it away."""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from brido.tables import DECODED, write_table
from brido.utils import atomic
from brido.utils.atomic import atomic_file, atomic_folder, write_text
from brido.utils.errors import BridoError

KILLED = """
import os, sys
from pathlib import Path
from brido.utils import atomic
with atomic.{kind}(Path({path!r})) as temporary:
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("kind", ["atomic_file", "atomic_folder"])
def test_the_next_write_removes_what_a_killed_one_left(kind, tmp_path):
    target = tmp_path / "a[1].json"
    subprocess.run([sys.executable, "-c", KILLED.format(kind=kind, path=str(target))], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(".tmp")
    if kind == "atomic_file":
        write_text(target, "whole")
    else:
        with atomic_folder(target) as folder:
            (folder / "b").write_text("whole")
    assert list(tmp_path.iterdir()) == [target]


def folder_of(path, text):
    with atomic_folder(path) as folder:
        (folder / "b").write_text(text)


def test_the_old_folder_stays_until_the_new_one_has_its_name(tmp_path, monkeypatch):
    target = tmp_path / "model"
    folder_of(target, "old")

    def fail(*both):
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr(atomic.os, "replace", fail)
        with pytest.raises(BridoError, match="broken"):
            folder_of(target, "new")
    assert (target / "b").read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
    folder_of(target, "new")
    assert (target / "b").read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_that_a_killed_process_moved_away_comes_back(tmp_path):
    target = tmp_path / "model"
    folder_of(target, "old")
    code = KILLED.format(kind="atomic_folder", path=str(target)).replace(
        "with atomic", "atomic.os.replace = lambda *both: os.kill(os.getpid(), 9)\nwith atomic"
    ).replace("    os.kill(os.getpid(), 9)", "    pass")  # fmt: skip
    subprocess.run([sys.executable, "-c", code], check=False)
    assert not target.exists()
    with pytest.raises(TypeError):
        folder_of(target, None)
    assert (target / "b").read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_limit_on_files_is_a_sentence_and_the_old_file_stays(tmp_path):
    path = tmp_path / "result"
    old, (soft, hard) = "old", resource.getrlimit(resource.RLIMIT_FSIZE)
    path.write_text(old)
    rows = [{"id": str(n), "summary": str(n**99), "score": 0.0} for n in range(5000)]
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        for write in (
            lambda: write_text(path, "long" * 5000),
            lambda: write_table(path, [rows], DECODED),
        ):
            with pytest.raises(BridoError, match=r"writing .*result .*ulimit -f"):
                write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == old
    assert [item.name for item in tmp_path.iterdir()] == ["result"]


def test_two_writers_of_a_path_do_not_meet(tmp_path):
    path = tmp_path / "result"
    with atomic_file(path) as first:
        first.write_text("first")
        with atomic_file(path) as second:
            assert first != second
            assert first.exists()
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["result"]


def synced(monkeypatch) -> list[str]:
    """The paths that are synchronised from now on."""
    paths: list[str] = []
    real = os.fsync

    def noted(descriptor):
        paths.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(atomic.os, "fsync", noted)
    return paths


def test_files_are_on_the_disk_before_they_have_their_name(tmp_path, monkeypatch):
    paths = synced(monkeypatch)
    replaced: list[int] = []
    real = os.replace
    monkeypatch.setattr(
        atomic.os, "replace", lambda *both: (replaced.append(len(paths)), real(*both))
    )
    write_text(tmp_path / "file", "whole")
    (content, folder) = paths
    assert Path(content).name.startswith(".brido-")
    assert folder == str(tmp_path)
    assert replaced == [1]
    paths.clear()
    with atomic_folder(tmp_path / "folder") as temporary:
        (temporary / "inner").mkdir()
        for name in ("a", "inner/b"):
            (temporary / name).write_text(name)
    root = str(temporary)
    assert set(paths[:-1]) == {root, f"{root}/a", f"{root}/inner", f"{root}/inner/b"}
    assert paths[-1] == str(tmp_path)
