"""The project as a DVC user has it: its files in a fresh git repository, made small."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]

SMALL = {
    "data.world.train": 48,
    "data.world.validation": 40,
    "data.world.test": 40,
    # Large enough for a base whose candidates differ: else no ranking changes anything.
    "checkpoints.base.embedded.world.documents": 2000,
    "checkpoints.base.embedded.epochs": 2,
    "documents.train": 48,
    "documents.validation": 16,
    "generation.base.num_candidates": 4,
    "generation.base.num_beams": 4,
    "generation.base.num_beam_groups": 4,
    "training.validation.documents": 8,
    "training.validation.every": 3,
    "report.bootstrap_samples": 50,
    "report.page_documents": 5,
}


def copy_project(folder: Path) -> Path:
    """Fill `folder` with the files that git knows or would know, and commit them.

    What Python and numba have compiled comes along. DVC's lock does not: no small run has its
    results, and DVC reads and writes all of it at every stage.
    """
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    compiled = (path.relative_to(ROOT) for path in (ROOT / "brido").rglob("__pycache__/*"))
    for name in {*listing.stdout.decode().splitlines(), *map(str, compiled)} - {"dvc.lock"}:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # another process that compiles has renamed it
                shutil.copy2(ROOT / name, folder / name)
    run(folder, "git", "init", "-q")
    commit(folder, "start")
    return folder


def clone_with_environment(folder: Path) -> Path:
    """`copy_project`, whose .venv is there already for `make`: that of the tests."""
    copy_project(folder)
    (folder / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (folder / ".venv" / name).symlink_to(Path(sys.prefix) / name)
    for stamp in (".runtime", ".dev"):
        (folder / ".venv" / stamp).touch()
    return folder


def commit(folder: Path, message: str) -> None:
    """Commit everything in the project."""
    run(folder, "git", "add", "-A")
    run(folder, "git", "commit", "-qm", message)


def overrides() -> list[str]:
    """SMALL, as DVC's `-S` takes it; ++ adds a key that is not there."""
    return [f"++{key}={value}" for key, value in SMALL.items()]


def environment(**more: str) -> dict[str, str]:
    """The environment of a user whose virtual environment is the one that runs the tests."""
    name, mail = "test", "test@example.org"
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), name),
        **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), mail),
        **more,
    }


def run(folder: Path, *command: str, code: int | None = 0, **more: str) -> str:
    """What a command run in the project says; it must end with `code`, or fail if that is None."""
    done = subprocess.run(
        command, cwd=folder, env=environment(**more), capture_output=True, text=True, timeout=1500
    )
    ended = bool(done.returncode) if code is None else done.returncode == code
    assert ended, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
