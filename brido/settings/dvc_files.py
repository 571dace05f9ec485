"""Mend what a kill left of DVC's own files, which DVC writes in place and then cannot read.

DVC rewrites `dvc.lock` after every stage. Killed while it writes, it leaves an empty or half-
written file, and every later command of it ends in an error. `brido config` looks at the file
before DVC starts: a whole one is copied to `KEPT`, a damaged one is replaced.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from brido.utils.atomic import write_text
from brido.utils.errors import BridoError

LOCK = Path("dvc.lock")
# The last dvc.lock that was whole, beside the work folder.
KEPT = Path(".brido/dvc.lock")
# DVC's list of who reads and writes which file. It is rewritten around every stage too.
USERS = Path(".dvc/tmp/rwlock")
_CONFLICT = "<<<<<<< "
# DVC holds its lock while it writes, for a second at most.
_PATIENCE = 10.0


def mend_dvc_files() -> Iterator[str]:
    """Put back dvc.lock where it is damaged, and keep a copy of it where it is whole.

    Yields a sentence for each file that was replaced or removed.

    Raises:
        BridoError: dvc.lock holds a merge's conflict, or another DVC command is writing it.
    """
    if USERS.is_file() and not _is_json(USERS):
        with _alone(USERS.with_name("rwlock.lock"), USERS):
            if not _is_json(USERS):
                USERS.unlink()
                yield (
                    f"{USERS} was damaged, probably by a kill. It was removed, and DVC writes a "
                    "new one"
                )
    if not LOCK.is_file():
        return
    text = LOCK.read_text(encoding="utf-8", errors="replace")
    if KEPT.is_file() and KEPT.read_text(encoding="utf-8", errors="replace") == text:
        return
    if _is_whole(text):
        write_text(KEPT, text)
        return
    if _CONFLICT in text:
        raise BridoError(
            f"{LOCK} holds a merge's conflict: choose a side (`git checkout --ours {LOCK}`), then "
            "`dvc repro`"
        )
    with _alone(Path(".dvc/tmp/lock"), LOCK):
        if not _is_whole(LOCK.read_text(encoding="utf-8", errors="replace")):
            yield _replace_lock()


def _replace_lock() -> str:
    """Replace a damaged dvc.lock; returns the sentence that says by what."""
    damaged = f"{LOCK} was damaged, probably by a kill"
    if KEPT.is_file():
        write_text(LOCK, KEPT.read_text(encoding="utf-8"))
        return f"{damaged}: the last whole one is put back; finished stages come from DVC's cache"
    LOCK.unlink()
    return (
        f"{damaged}, and there is no earlier one, so it was removed; finished stages come from "
        "DVC's cache"
    )


def _is_whole(text: str) -> bool:
    """Return whether DVC reads a text as a dvc.lock, and its last line has an end."""
    from dvc.dvcfile import Lockfile  # noqa: F401 - imports the schema
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA
    from dvc.utils.serialize import loads_yaml

    try:
        return bool(COMPILED_LOCKFILE_SCHEMA(loads_yaml(text))) and text.endswith("\n")
    except Exception:  # a parser, or a value of another kind, may raise any
        return False


def _is_json(path: Path) -> bool:
    try:
        return isinstance(json.loads(path.read_text(encoding="utf-8")), dict)
    except FileNotFoundError:
        return True  # DVC makes it
    except ValueError:
        return False


@contextmanager
def _alone(lock: Path, file: Path) -> Iterator[None]:
    """Hold DVC's own lock: a command that is writing `file` now has not damaged it.

    Raises:
        BridoError: another command holds it for long.
    """
    held = FileLock(lock, timeout=_PATIENCE)
    try:
        held.acquire()
    except Timeout:
        raise BridoError(
            f"{file} is being written, because another DVC command runs here: wait until it ends"
        ) from None
    except OSError:
        pass  # there is no .dvc here, so no DVC command either
    try:
        yield
    finally:
        held.release()
