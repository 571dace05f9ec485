"""A project of one's own: a Git worktree of the clone, on a branch of its own.

A run rewrites params.yaml, dvc.lock and metrics/, which Git tracks. In the worktree these files are
the user's, and code, stages and presets are those of the clone's last commit.
"""

import subprocess
from pathlib import Path

import brido
from brido.utils.errors import BridoError

# Branches of projects begin so.
_BRANCH = "brido/"
# Neither keys nor hooks of the user's take part, and a commit needs an author.
_OURS = ("-c", "user.name=brido init", "-c", "user.email=brido@localhost",
         "-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null")  # fmt: skip


def checkout() -> Path:
    """The clone, or the project, whose code runs.

    Raises:
        BridoError: the code is an installed package, which has no stages, or a copy without Git.
    """
    root = Path(brido.__file__).resolve().parents[1]
    if not ((root / "stages").is_dir() and (root / ".git").exists()):
        raise BridoError(
            f"{root} is not a clone of BRIDO: `git clone` its repository, and run the `brido` of "
            "its .venv/bin. Only a clone has the stages of a run"
        )
    return root


def check_place(folder: Path) -> None:
    """Raise BridoError if a folder is a file, or neither empty nor a project."""
    is_file = folder.exists() and not folder.is_dir()
    if is_file or (folder.is_dir() and any(folder.iterdir()) and not is_project(folder)):
        raise BridoError(
            f"{folder} is neither a project nor an empty folder: name a new one. A pattern of "
            "several files stands in quotes (--train 'my/*.jsonl')"
        )


def is_project(folder: Path) -> bool:
    """Whether a folder is the top of a worktree that `make_place` made.

    Raises:
        BridoError: no branch is checked out in it.
    """
    if not (folder / ".git").is_file() or not (folder / "stages").is_dir():
        return False
    if not (branch := branch_of(folder)):
        raise BridoError(
            f"{folder} has no branch, as after a killed `dvc exp run`: `git checkout -f "
            f"{_BRANCH}{folder.name}` brings the project back"
        )
    return branch.startswith(_BRANCH)


def branch_of(folder: Path) -> str:
    """The branch of a worktree, or ""."""
    return _git(folder, "branch", "--show-current").strip()


def make_place(folder: Path, root: Path) -> None:
    """Make the project without the results of the clone's run, or leave the one that is there."""
    if folder.is_dir() and any(folder.iterdir()):
        return
    _git(root, "worktree", "prune")
    taken = _git(root, "branch", "--list", "--format=%(refname:short)").split()
    names = (f"{_BRANCH}{folder.name}{end}" for end in ("", *(f"-{n}" for n in range(2, 1000))))
    branch = next(name for name in names if name not in taken)
    _git(root, *_OURS, "worktree", "add", "--quiet", "-b", branch, str(folder))
    _git(folder, "rm", "-r", "--quiet", "--ignore-unmatch", "metrics", "dvc.lock")
    _git(folder, *_OURS, "commit", "--quiet", "--allow-empty", "--message", "A project begins")


def commit(folder: Path) -> None:
    """Commit the plan, params.yaml alone: experiments start from it, and Git brings it back."""
    if _git(folder, "status", "--porcelain", "--", "params.yaml"):
        message = ("--quiet", "--message", "The plan of brido init")
        _git(folder, *_OURS, "commit", *message, "--", "params.yaml")


def _git(folder: Path, *arguments: str) -> str:
    """What Git prints; a BridoError where it refuses."""
    try:
        return subprocess.run(
            ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
        ).stdout
    except FileNotFoundError:
        raise BridoError("git is not installed: install it and try again") from None
    except subprocess.CalledProcessError as error:
        reason = (error.stderr or error.stdout).strip().replace("\n", " ")
        raise BridoError(f"{folder}: git refuses: {reason}") from None
