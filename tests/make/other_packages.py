"""Packages that cannot stand beside the pinned ones, in a folder of their own."""

import subprocess
import sys
from pathlib import Path

import pytest


def install(folder: Path, *requirements: str | Path) -> Path:
    """Install requirements (without what they need) into the folder; skip without an index."""
    command = ["install", "--quiet", "--no-deps", "--target", str(folder), "--retries", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *command, *map(str, requirements)],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip(f"pip cannot install {requirements[-1]} here: {done.stderr[-300:]}")
    return folder
