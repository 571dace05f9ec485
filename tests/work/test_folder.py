"""The lock on a stage's work: a second process is refused by name, a dead one's lock is free."""

import subprocess
import sys

import pytest

from brido.tables import DECODED
from brido.utils.errors import BridoError
from brido.work.folder import leave, take, work_root
from brido.work.shards import Shards

HOLDER = """
import sys
from pathlib import Path
from brido.work.folder import take
take(Path(sys.argv[1]))
print("at work", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def orphan():
    """A process that holds the work folder of stage train, under other settings."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(work_root() / "train" / "other")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "at work\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_process_is_refused_by_name_and_removes_nothing(orphan):
    kept = work_root() / "train" / "other" / "state.pt"
    kept.write_text("hours of work")
    with pytest.raises(
        BridoError, match=rf"^process {orphan.pid} on .* is at work .*`kill {orphan.pid}`"
    ):
        take(work_root() / "train" / "mine")
    with pytest.raises(BridoError, match=f"process {orphan.pid} "):
        Shards("train", "mine", DECODED)
    assert kept.is_file()
    (work_root() / "train.lock").write_text("")  # it has the lock, and has not said who it is
    with pytest.raises(BridoError, match="is at work"):
        take(work_root() / "train" / "mine")
    take(work_root() / "generate" / "mine")  # another stage is nobody's
    leave(work_root() / "generate" / "mine")


def test_the_lock_of_a_dead_process_is_taken_over(orphan):
    orphan.kill()
    orphan.wait()
    take(work_root() / "train" / "mine")
    assert not (work_root() / "train" / "other").exists()
    leave(work_root() / "train" / "mine")
    assert not (work_root() / "train" / "mine").exists()
