"""From where the paths of params.yaml count."""

import os
from pathlib import Path

from brido.utils.errors import BridoError, parsing, quoted


def user_path(path: str | Path) -> Path:
    """Return a path as params.yaml names it.

    A relative one counts from the project's folder, also where DVC runs a stage in a copy of that
    folder without what git does not track: a sweep names the real one in BRIDO_HOME.
    """
    try:
        whole = Path(os.environ.get("BRIDO_HOME", ""), Path(path).expanduser())
    except RuntimeError:
        raise BridoError(f"{path}: there is no such user, so `~` cannot be a folder") from None
    with parsing(lambda reason: f"{quoted(str(path))} cannot be a path here: {reason}"):
        # Over-long names, NUL: what the system cannot even look for.
        whole.is_file()
    return whole


def left_behind(path: str | Path) -> str:
    """What helps where DVC runs a stage in a copy of the project without what git ignores, or "".

    path: of a file that is missing, as params.yaml names it.
    """
    if os.path.isabs(path) or ".dvc/tmp/" not in f"{Path.cwd().as_posix()}/":
        return ""
    return (
        ". DVC runs here in a copy without the files that git ignores: add `--copy-paths "
        f"{Path(path).parts[0]}` to `dvc exp run`, or set BRIDO_HOME to the project's folder"
    )
