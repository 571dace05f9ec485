"""A cache of finished training runs, by the fingerprint of their settings and inputs.

DVC deletes a stage's output before the stage reads its settings, so a typo among them would cost
the trained model. A finished run stays in its work folder until newer ones need the space.
"""

from __future__ import annotations

import hashlib
import shutil
from functools import cache
from importlib.metadata import version
from pathlib import Path

import brido

# The newest finished runs of a stage stay: this many, and beside the last one only as many as fit
# into this many bytes.
CACHED_RUNS = 4
CACHED_BYTES = 10 * 2**30

FINISHED = "finished.pt"
# A run that other code made is trained again.
ROOMS = ("training", "models", "likelihood", "search")
PACKAGES = ("torch", "transformers", "accelerate", "peft")


@cache
def code_digest() -> str:
    """The code that a run depends on, as 16 hexadecimal digits."""
    root = Path(brido.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(file for room in ROOMS for file in (root / room).rglob("*.py")):
        digest.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes())
    for package in PACKAGES:
        digest.update(f"{package}\0{version(package)}".encode())
    return digest.hexdigest()[:16]


def prune(folder: Path) -> None:
    """Remove the unfinished and the oldest runs beside `folder`."""
    others = [other for other in folder.parent.glob("*") if other.is_dir() and other != folder]
    files = {other: other / FINISHED for other in others if (other / FINISHED).is_file()}
    newest = sorted(files, key=lambda other: files[other].stat().st_mtime_ns, reverse=True)
    room, stay = CACHED_BYTES - _size(folder), set()
    for other in newest[: CACHED_RUNS - 1]:
        room -= _size(other)
        if room >= 0:
            stay.add(other)
    for other in others:
        if other not in stay:
            shutil.rmtree(other, ignore_errors=True)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
