"""A place of their own for runs on a user's documents: a small Git and DVC project.

A run rewrites params.yaml, dvc.lock and metrics/, which Git tracks in a checkout of BRIDO. Here
these files are the user's. Code, stages and presets are links to the checkout. dvc.yaml is a copy:
DVC compares experiments by the dvc.yaml of their commits, and Git keeps of a link its target alone.
"""

import errno
import shutil
import subprocess
import sys
from pathlib import Path

import brido
from brido.utils.atomic import explained, write_text
from brido.utils.errors import BridoError

_LINKS = ("brido", "stages", "presets")
# What a run makes again; metrics and dvc.lock are kept by Git.
_IGNORED = ("/data/", "/report/", "/.brido/", "/metrics/training/", "/metrics/**/*.svg")
# For the first commit, which DVC's experiments need.
_AUTHOR = ("-c", "user.name=brido init", "-c", "user.email=brido@localhost")


def checkout() -> Path:
    """The checkout whose code runs.

    Raises:
        BridoError: the code is an installed package, which has no stages.
    """
    root = Path(brido.__file__).resolve().parents[1]
    if not ((root / "dvc.yaml").is_file() and (root / "stages").is_dir()):
        raise BridoError(
            f"{root} is not a checkout of BRIDO: clone its repository, and run the `brido` of its "
            ".venv/bin. Only a checkout has the stages of a run"
        )
    return root


def check_place(folder: Path, root: Path) -> None:
    """Refuse a folder that holds something else.

    Raises:
        BridoError: it is a file, or neither empty nor a project of this checkout.
    """
    if folder.exists() and not folder.is_dir():
        raise BridoError(
            f"{folder} is a file: name a folder that is new or empty. A pattern of several files "
            "stands in quotes (--train 'my/*.jsonl')"
        )
    link = folder / "stages"
    if folder.is_dir() and any(folder.iterdir()) and link.resolve() != root / "stages":
        raise BridoError(
            f"{folder} holds something else than a project of {root}: name a folder that is new "
            "or empty"
        )


def make_place(folder: Path, root: Path) -> None:
    """Make the project, or leave the one that is there; its dvc.yaml becomes the checkout's.

    Raises:
        BridoError: the folder cannot be written, or Git or DVC refuse.
    """
    with explained(folder, frozenset(errno.errorcode)):
        folder.mkdir(parents=True, exist_ok=True)
        for name in _LINKS:
            if not (folder / name).exists():
                (folder / name).symlink_to(root / name)
    write_text(folder / "dvc.yaml", (root / "dvc.yaml").read_text(encoding="utf-8"))
    if not (folder / ".gitignore").exists():
        write_text(folder / ".gitignore", "\n".join(_IGNORED) + "\n")
        shutil.copyfile(root / ".dvcignore", folder / ".dvcignore")
    if not (folder / ".git").exists():
        _run(folder, "git", "init", "--quiet", ".")
    if not (folder / ".dvc").exists():
        _run(folder, sys.executable, "-m", "dvc", "init", "--quiet")
        shutil.copyfile(root / ".dvc" / "config", folder / ".dvc" / "config")


def commit(folder: Path) -> None:
    """Commit the new settings if it is the first time: DVC's experiments start from a commit."""
    known = ["git", "rev-parse", "--quiet", "--verify", "HEAD"]
    if subprocess.run(known, cwd=folder, capture_output=True, check=False).returncode:
        _run(folder, "git", "add", "--all")
        _run(folder, "git", *_AUTHOR, "commit", "--quiet", "--message", "brido init own")


def _run(folder: Path, *command: str) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise BridoError(f"{command[0]} is not installed: install it and try again") from None
    except subprocess.CalledProcessError as error:
        reason = (error.stderr or error.stdout or str(error)).strip().partition("\n")[0]
        raise BridoError(f"{folder}: `{' '.join(command)}` failed: {reason}") from None
