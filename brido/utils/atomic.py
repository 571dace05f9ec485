"""Files and folders that appear whole or not at all."""

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from brido.utils.errors import BridoError, is_disk_full


def atomic_file(path: Path) -> contextlib.AbstractContextManager[Path]:
    """A temporary path in the folder of `path`; it becomes `path` when the block ends well.

    No other file has the temporary name. What a killed process left is removed by the next one
    that writes `path`; what a living one writes stays.

    Raises:
        BridoError: `path` cannot be a file, the disk is full, the file larger than a limit allows,
            or the folder cannot be written; `path` is then as it was.
    """
    return _replacing(Path(path), Path.touch)


def atomic_folder(path: Path) -> contextlib.AbstractContextManager[Path]:
    """A temporary folder beside `path`; it takes the place of `path` when the block ends well.

    Raises:
        BridoError: as atomic_file, or `path` is a file.
    """
    return _replacing(Path(path), Path.mkdir)


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, whole or not at all."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def explained(path: Path, any_error: bool = True) -> Iterator[None]:
    """Turn what keeps the block from writing `path` into a BridoError.

    any_error: every error of the system in the block is about the path; else a full disk alone is.
    """
    try:
        yield
    except BridoError:
        raise
    except Exception as error:
        if is_disk_full(error):
            message = (
                f"the disk is full while writing {path} (or `ulimit -f` is reached): free some "
                "space and run again; finished work is kept"
            )
        elif any_error and isinstance(error, OSError):
            message = f"{path} cannot be written ({error.strerror})"
        else:
            raise
        raise BridoError(message) from error


def check_place(path: Path) -> None:
    """Raise BridoError if a file cannot be at a path: a folder is there, or no folder is above."""
    if path.is_dir():
        raise BridoError(f"{path} is a folder: name a file in it")
    folder = next(folder for folder in path.absolute().parents if folder.exists())
    if not folder.is_dir():
        raise BridoError(f"{path} cannot be written: {folder} is not a folder")


@contextlib.contextmanager
def _replacing(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    with contextlib.ExitStack() as stack:
        with explained(path):
            if make is Path.touch:
                check_place(path)
            elif path.is_file():
                raise BridoError(f"{path} is a file: move it away, or name a folder")
            path.parent.mkdir(parents=True, exist_ok=True)
            _remove_left(path)
            temporary = _make_temporary(path, make, stack)
        with explained(path, any_error=False):
            yield temporary
        with explained(path):
            _finish(temporary)
            if path.is_dir():
                _exchange(temporary, path)
            else:
                os.replace(temporary, path)
            _sync(path.parent)
            _remove(_moved(path))


def _exchange(new: Path, old: Path) -> None:
    """Give a new folder the name of the old one, which is only moved away until that is done."""
    os.rename(old, _moved(old))
    try:
        os.replace(new, old)
    except BaseException:
        os.rename(_moved(old), old)
        raise


def _moved(path: Path) -> Path:
    """Where the old folder of a path is while the new one gets its name."""
    return path.with_name(f"{_prefix(path)}old")


def _prefix(path: Path) -> str:
    """How the temporary names of a path begin: short, however long its own name is."""
    digest = hashlib.blake2b(os.fsencode(path.name), digest_size=8).hexdigest()
    return f".brido-{digest}-"


def _make_temporary(path: Path, make: Callable[[Path], None], stack: contextlib.ExitStack) -> Path:
    """Make a file or folder beside `path` under a new name, locked and removed by `stack`."""
    while True:
        temporary = path.with_name(f"{_prefix(path)}{secrets.token_hex(8)}.tmp")
        make(temporary)
        stack.callback(_remove, temporary)
        # Before it was locked, another process could take it for what a killed one left.
        with contextlib.suppress(FileNotFoundError):
            stack.enter_context(_locked(temporary))
            if temporary.exists():
                return temporary


def _remove_left(path: Path) -> None:
    """Remove what killed processes left of this path; a living one holds a lock."""
    if _moved(path).exists() and not path.exists():
        os.rename(_moved(path), path)  # it was killed between the two names
    _remove(_moved(path))
    for left in path.parent.glob(f"{_prefix(path)}*.tmp"):
        with contextlib.suppress(OSError), _locked(left, wait=False):
            _remove(left)


@contextlib.contextmanager
def _locked(path: Path, wait: bool = True) -> Iterator[None]:
    """Hold a lock on a file or folder; the system takes it from a process that ends.

    Raises:
        OSError: another process has it and `wait` is False, or the file system has no locks.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        # Where there are no locks, nothing that was left is removed.
        with contextlib.suppress(OSError) if wait else contextlib.nullcontext():
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)


def _finish(temporary: Path) -> None:
    """Put the files on the disk, readable as the user's other files are.

    Some writers (safetensors) leave modes for secrets; ours are results that a team shares.
    """
    mask = os.umask(0)
    os.umask(mask)
    for path in [*temporary.rglob("*"), temporary]:
        if not path.is_symlink():  # what it points to is not ours
            path.chmod((0o777 if path.is_dir() else 0o666) & ~mask)
            _sync(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
