"""Files and folders that appear whole or not at all."""

import contextlib
import errno
import glob
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from brido.utils.errors import BridoError, is_disk_full, is_file_limit

_FORBIDDEN = {errno.EACCES, errno.EROFS, errno.EPERM}


def atomic_file(path: Path) -> contextlib.AbstractContextManager[Path]:
    """A temporary path in the folder of `path`; it becomes `path` when the block ends well.

    Raises:
        BridoError: the disk is full, the file larger than a limit allows, or the folder cannot be
            written; `path` is then as it was.
    """
    return _replacing(Path(path), _new_file)


def atomic_folder(path: Path) -> contextlib.AbstractContextManager[Path]:
    """A temporary folder beside `path`; it takes the place of `path` when the block ends well.

    Raises:
        BridoError: as atomic_file.
    """
    return _replacing(Path(path), tempfile.mkdtemp)


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, whole or not at all."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def _replacing(path: Path, make: Callable[..., str]) -> Iterator[Path]:
    # The temporary name says which process writes.
    machine = f".{path.name}.{platform.node()}-"
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(path.parent, machine)
        name = make(dir=path.parent, prefix=f"{machine}{os.getpid()}-", suffix=".tmp")
        temporary = Path(name)
        yield temporary
        _finish(temporary)
        if temporary.is_dir() and path.exists():
            shutil.rmtree(path)
        os.replace(temporary, path)
        _sync(path.parent)
    except BridoError:
        raise
    except Exception as error:
        message = _explain(error, path)
        if message is None:
            raise
        raise BridoError(message) from error
    finally:
        if temporary is not None:
            _remove(temporary)


def _new_file(**where: Any) -> str:
    handle, name = tempfile.mkstemp(**where)
    os.close(handle)
    return name


def _finish(temporary: Path) -> None:
    """Put the files on the disk, readable as the user's other files are.

    tempfile's modes are for secrets, and some writers (safetensors) leave them too; ours are
    results that a team shares.
    """
    mask = os.umask(0)
    os.umask(mask)
    is_folder = temporary.is_dir()
    for path in sorted(temporary.rglob("*")) if is_folder else [temporary]:
        if path.is_file():
            path.chmod(0o666 & ~mask)
            _sync(path)
    if is_folder:
        temporary.chmod(0o777 & ~mask)


def _remove_stale(folder: Path, machine: str) -> None:
    """Remove what killed writers of the same path on this machine have left behind."""
    for left in folder.glob(f"{glob.escape(machine)}*.tmp"):
        writer = left.name.removeprefix(machine).split("-")[0]
        if writer.isdigit() and not _runs(int(writer)):
            _remove(left)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # another user's
    return True


def _explain(error: Exception, path: Path) -> str | None:
    """The sentence for a disk or folder that takes no file, None for any other error."""
    again = "and run again; finished work is kept"
    if is_disk_full(error):
        return f"the disk is full while writing {path}: free some space {again}"
    if is_file_limit(error):
        return f"{path} is larger than a file may be here (`ulimit -f`): lift the limit {again}"
    if isinstance(error, OSError) and error.errno in _FORBIDDEN:
        return f"{path} cannot be written ({error.strerror})"
    return None


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
