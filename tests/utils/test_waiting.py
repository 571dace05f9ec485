"""Commands and stages let PyTorch's threads sleep while they wait; a library leaves them alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AT_EXIT = """
import atexit, os, sys
atexit.register(lambda: print("spins", os.environ.get("GOMP_SPINCOUNT"), file=sys.stderr))
"""


@pytest.mark.parametrize(
    ("arguments", "given", "expected"),
    [
        (("-m", "brido", "--help"), {}, "1000"),
        (("-m", "stages.needs"), {}, "1000"),
        (("-c", "from brido.cli.main import script; script()"), {}, "1000"),
        (("-m", "brido", "--help"), {"GOMP_SPINCOUNT": "7"}, "7"),
        (("-c", "import brido"), {}, "None"),
    ],
)
def test_threads_sleep_unless_the_user_says_otherwise(tmp_path: Path, arguments, given, expected):
    (tmp_path / "sitecustomize.py").write_text(AT_EXIT)
    kept = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    environment = kept | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"} | given
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == f"spins {expected}"
