"""Files and folders that appear whole or not at all."""

import contextlib
import errno
import glob
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from brido.utils.errors import BridoError, is_disk_full, is_file_limit

_FORBIDDEN = {errno.EACCES, errno.EROFS, errno.EPERM}


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """A temporary path in the folder of `path`; it becomes `path` when the block ends well.

    Raises:
        BridoError: the disk is full, the file larger than a limit allows, or the folder cannot be
            written; `path` is then as it was.
    """
    path = Path(path)
    with _disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(path)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path), suffix=".tmp")
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            _sync(temporary)
            # mkstemp's 0600 is for secrets; ours are results that a team shares.
            temporary.chmod(0o666 & ~_umask())
            os.replace(temporary, path)
            _sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path`; it takes the place of `path` when the block ends well."""
    path = Path(path)
    with _disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(path)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=_prefix(path), suffix=".tmp"))
        try:
            yield temporary
            for path_inside in sorted(temporary.rglob("*")):
                if path_inside.is_file():
                    # Some writers (safetensors) leave 0600 as well.
                    path_inside.chmod(0o666 & ~_umask())
                    _sync(path_inside)
            temporary.chmod(0o777 & ~_umask())
            if path.exists():
                shutil.rmtree(path)
            os.replace(temporary, path)
            _sync(path.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _prefix(path: Path) -> str:
    """How the temporary name of a path begins: with whose it is."""
    return f".{path.name}.{platform.node()}-{os.getpid()}-"


def _remove_stale(path: Path) -> None:
    """Remove what writers of `path` on this machine that are no more have left behind."""
    begin = f".{path.name}.{platform.node()}-"
    for left in path.parent.glob(f"{glob.escape(begin)}*.tmp"):
        writer = left.name.removeprefix(begin).split("-")[0]
        if writer.isdigit() and not _runs(int(writer)):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, whole or not at all."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except BridoError:
        raise
    except Exception as error:
        if is_disk_full(error):
            raise BridoError(
                f"the disk is full while writing {path}: free some space and run again; "
                "finished work is kept"
            ) from error
        if is_file_limit(error):
            raise BridoError(
                f"{path} is larger than a file may be here (`ulimit -f`): lift the limit and run "
                "again; finished work is kept"
            ) from error
        if isinstance(error, OSError) and error.errno in _FORBIDDEN:
            raise BridoError(f"{path} cannot be written ({error.strerror})") from error
        raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
