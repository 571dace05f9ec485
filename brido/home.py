"""From where the paths of params.yaml count."""

import os
from pathlib import Path


def user_path(path: str | Path) -> Path:
    """A path as params.yaml names it.

    A relative one counts from the project's folder, also where DVC runs a stage in a copy of that
    folder without what git does not track: a sweep names the real one in BRIDO_HOME.
    """
    return Path(os.environ.get("BRIDO_HOME", ""), Path(path).expanduser())
