"""What a killed write leaves behind, and that the next one clears it away."""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from brido.tables import DECODED, write_table
from brido.utils.atomic import atomic_folder, write_text
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


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EIO, errno.ESTALE])
def test_a_place_that_takes_no_file_is_a_sentence(number, tmp_path, monkeypatch):
    """As /proc, a drive that was pulled out, a share that went away."""

    def refuse(path):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(BridoError, match=rf"result\.json .*{os.strerror(number)}"):
        write_text(tmp_path / "result.json", "text")


@pytest.mark.parametrize("writer", ["text", "table", "folder"])
def test_a_limit_on_files_is_a_sentence_and_the_old_file_stays(tmp_path, writer):
    path = tmp_path / "result"
    old, (soft, hard) = "old", resource.getrlimit(resource.RLIMIT_FSIZE)
    path.write_text(old)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(BridoError, match=r"writing .*result .*ulimit -f"):
            if writer == "text":
                write_text(path, "long" * 5000)
            elif writer == "table":
                rows = [{"id": str(n), "summary": str(n**99), "score": 0.0} for n in range(5000)]
                write_table(path, [rows], DECODED)
            else:
                with atomic_folder(path) as folder:
                    save_file({"weight": np.zeros(5000)}, folder / "model.safetensors")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == old
    assert [item.name for item in tmp_path.iterdir()] == ["result"]
