"""From where the paths of params.yaml count."""

import os
from pathlib import Path

from brido.errors import BridoError


def user_path(path: str | Path) -> Path:
    """A path as params.yaml names it.

    A relative one counts from the project's folder, also where DVC runs a stage in a copy of that
    folder without what git does not track: a sweep names the real one in BRIDO_HOME.
    """
    try:
        return Path(os.environ.get("BRIDO_HOME", ""), Path(path).expanduser())
    except RuntimeError:
        raise BridoError(f"{path}: there is no such user, so ~ is no folder") from None
