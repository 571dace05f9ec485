"""Files and folders that appear whole or not at all."""

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from brido.utils.errors import BridoError, is_disk_full

_FORBIDDEN = {errno.EACCES, errno.EROFS, errno.EPERM}


def atomic_file(path: Path) -> contextlib.AbstractContextManager[Path]:
    """A temporary path in the folder of `path`; it becomes `path` when the block ends well.

    One process at a time may write a path. What a killed one left is overwritten.

    Raises:
        BridoError: the disk is full, the file larger than a limit allows, or the folder cannot be
            written; `path` is then as it was.
    """
    return _replacing(Path(path), Path.touch)


def atomic_folder(path: Path) -> contextlib.AbstractContextManager[Path]:
    """A temporary folder beside `path`; it takes the place of `path` when the block ends well.

    Raises:
        BridoError: as atomic_file.
    """
    return _replacing(Path(path), Path.mkdir)


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, whole or not at all."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def _replacing(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(temporary)
        make(temporary)
        yield temporary
        _finish(temporary)
        if temporary.is_dir() and path.exists():
            shutil.rmtree(path)
        os.replace(temporary, path)
        _sync(path.parent)
    except BridoError:
        raise
    except Exception as error:
        if is_disk_full(error):
            message = (
                f"the disk is full while writing {path} (or `ulimit -f` is reached): free some "
                "space and run again; finished work is kept"
            )
        elif isinstance(error, OSError) and error.errno in _FORBIDDEN:
            message = f"{path} cannot be written ({error.strerror})"
        else:
            raise
        raise BridoError(message) from error
    finally:
        with contextlib.suppress(OSError):
            _remove(temporary)


def _finish(temporary: Path) -> None:
    """Put the files on the disk, readable as the user's other files are.

    Some writers (safetensors) leave modes for secrets; ours are results that a team shares.
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


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
