"""Hashes that say which files, and which base model, numbers belong to.

The same settings make another base on another machine, whose processor rounds differently, and
numbers of different bases say nothing about the settings.
"""

import hashlib
import json
from pathlib import Path

from brido.tables.read import read_rows
from brido.tables.schemas import DECODED
from brido.utils.errors import BridoError


def base_of(decoded: Path) -> str:
    """12 digits of a hash of what base wrote: ids and summaries of a decoded table.

    Raises:
        BridoError: the table is missing or damaged.
    """
    rows = read_rows(decoded, DECODED, "decode_base")
    text = json.dumps([[row["id"], row["summary"]] for row in rows])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def content_hash(path: Path) -> str:
    """The SHA-256 of a file, or of a folder's file names and contents."""
    path = Path(path)
    if not path.exists():
        raise BridoError(f"{path} is missing: run `dvc repro`, which makes it")
    if path.is_dir():
        digest = hashlib.sha256()
        for file in sorted(item for item in path.rglob("*") if item.is_file()):
            digest.update(f"{file.relative_to(path)}\0{content_hash(file)}\0".encode())
        return digest.hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
