"""The folder of a stage's unfinished work: one a fingerprint, and one process at a time in it.

`.brido/work/STAGE/FINGERPRINT/` lies outside DVC's outputs, because DVC deletes those before a
stage starts. If DVC is ended, its stage may go on alone; a second one beside it would remove or
overwrite its work. So the process at work holds the stage's lock, which the system frees when the
process ends, however it ends.
"""

import os
import platform
import shutil
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from brido.utils.errors import BridoError

# The locks that this process holds, until it leaves the folder or ends.
_held: dict[Path, BaseFileLock] = {}


def work_root() -> Path:
    """Return the folder for unfinished work: BRIDO_WORK, else .brido/work."""
    return Path(os.environ.get("BRIDO_WORK") or ".brido/work")


def answers_file(checker: str) -> Path:
    """The file that keeps all answers of a metric's or a checker's models."""
    return work_root() / "answers" / f"{checker}.sqlite"


def take(folder: Path) -> None:
    """Make `folder`, and let no other process work for its stage until `leave`.

    The work beside it is removed: it had other settings or inputs.

    Raises:
        BridoError: another process works for the stage (it is named), or the folder cannot be made
            or locked.
    """
    path = _lock_file(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path not in _held:
            lock = FileLock(path)
            lock.acquire(blocking=False)
            # The owner, for the message of a process that is refused.
            path.write_text(f"{os.getpid()} {platform.node()}", encoding="utf-8")
            _held[path] = lock
    except Timeout:
        process, _, machine = path.read_text(encoding="utf-8").partition(" ")
        raise BridoError(
            f"process {process} on {machine} is at work in {folder.parent}: wait until it ends, or "
            f"end it there (`kill {process}`), then run again"
        ) from None
    except (OSError, NotImplementedError) as error:
        raise BridoError(
            f"{folder} cannot be made and locked ({error}): name another folder for unfinished "
            "work in BRIDO_WORK"
        ) from None
    for sibling in folder.parent.glob("*"):
        if sibling.is_dir() and sibling != folder:
            shutil.rmtree(sibling, ignore_errors=True)


def leave(folder: Path) -> None:
    """Remove the folder, when the stage's output is in place, and let others work for the stage."""
    shutil.rmtree(folder, ignore_errors=True)
    if lock := _held.pop(_lock_file(folder), None):
        lock.release()


def _lock_file(folder: Path) -> Path:
    stage = folder.parent.resolve()
    return stage.with_name(f"{stage.name}.lock")
