"""From where the paths of params.yaml count."""

import os
from pathlib import Path

from brido.utils.errors import parsing, quoted


def user_path(path: str | Path) -> Path:
    """Return a path as params.yaml names it.

    A relative one counts from the project's folder, also where DVC runs a stage in a copy of that
    folder without what git does not track: a sweep names the real one in BRIDO_HOME.
    """
    with parsing(lambda reason: f"{quoted(str(path))} cannot be a path here: {reason}"):
        whole = Path(os.environ.get("BRIDO_HOME", ""), Path(path).expanduser())
        # Over-long names, NUL: what the system cannot even look for.
        whole.is_file()
    return whole
