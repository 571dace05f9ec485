"""Finished runs are kept: whoever asks for one again has it in seconds.

DVC removes a stage's output before the stage reads its settings, so a typo among them would cost
the trained model. A finished run stays in its work folder, under the fingerprint of its settings
and inputs, until newer ones need its place.
"""

from __future__ import annotations

import hashlib
import shutil
from functools import cache
from importlib.metadata import version
from pathlib import Path

import brido

# So many finished runs of a stage stay, the newest; the last one always, the others as long as all
# of them are within so many bytes.
KEPT_RUNS = 4
KEPT_BYTES = 10 * 2**30

FINISHED = "finished.pt"
# A run is that of today's code, or it is trained again.
ROOMS = ("training", "models", "likelihood", "search")
PACKAGES = ("torch", "transformers", "accelerate", "peft")


@cache
def made_with() -> str:
    """The code that a run depends on, as 16 hexadecimal digits."""
    root = Path(brido.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(file for room in ROOMS for file in (root / room).rglob("*.py")):
        digest.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes())
    for package in PACKAGES:
        digest.update(f"{package}\0{version(package)}".encode())
    return digest.hexdigest()[:16]


def make_room(folder: Path) -> None:
    """Remove the runs beside `folder` that nobody needs: unfinished ones and old ones."""
    others = [other for other in folder.parent.glob("*") if other.is_dir() and other != folder]
    files = {other: other / FINISHED for other in others if (other / FINISHED).is_file()}
    newest = sorted(files, key=lambda other: files[other].stat().st_mtime_ns, reverse=True)
    room, stay = KEPT_BYTES - _size(folder), set()
    for other in newest[: KEPT_RUNS - 1]:
        room -= _size(other)
        if room >= 0:
            stay.add(other)
    for other in others:
        if other not in stay:
            shutil.rmtree(other, ignore_errors=True)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
