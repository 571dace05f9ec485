"""Resumable units of work: a stage killed at any moment goes on where it was.

A stage cuts its input into shards, writes each finished shard to
`.brido/work/STAGE/FINGERPRINT/NNNNNN.parquet` and assembles its output once. The fingerprint covers
the settings and the content of the inputs, so work done under other settings is never picked up;
it is removed when the stage next starts (`brido.work.folder`). BRIDO_WORK moves the folder.

DVC removes a stage's outputs before it runs the stage again. So the finished shards of its last run
are kept outside, in `.brido/work/kept/STAGE/KEY.parquet` (`Kept`), for a next one that takes over
what nothing changed in. A key covers all that decides a shard's bytes: settings, model, the shard's
own documents, and the code (`code_key`).
"""

import contextlib
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import BaseModel

import brido
from brido.tables import read_batches, read_metadata, write_table
from brido.tables.fingerprint import content_hash
from brido.utils.atomic import atomic_file
from brido.work.folder import leave, take, work_root


def fingerprint(settings: Any, inputs: Iterable[Path] = ()) -> str:
    """Return 16 hexadecimal digits that change with the settings or an input's content.

    `settings` is anything JSON can hold, sections of params.yaml included; `inputs` are files or
    folders (all files below them). Runtime settings do not belong in it.
    """
    digest = hashlib.sha256()
    digest.update(json.dumps(settings, sort_keys=True, default=_plain).encode())
    for path in inputs:
        digest.update(content_hash(path).encode())
    return digest.hexdigest()[:16]


def table_keys(settings: Any, inputs: Iterable[Path], count: int) -> list[str]:
    """Keys of a table's `count` shards, which all change with the settings or an input."""
    shared = fingerprint(settings, inputs)
    return [f"{shared}-{number}" for number in range(count)]


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


class Shards:
    """The finished shards of one stage under one fingerprint."""

    def __init__(self, stage: str, key: str, schema: pa.Schema) -> None:
        """Open (or start) the work folder of `stage` and remove the stage's stale ones.

        `stage` may hold a slash where a stage works on several things (`generate/train`).

        Raises:
            BridoError: another process is at work there.
        """
        self.schema = schema
        self.folder = work_root() / stage / key
        take(self.folder)

    def path(self, index: int) -> Path:
        """Return the file of shard `index`, finished or not."""
        return self.folder / f"{index:06d}.parquet"

    def done(self, index: int) -> bool:
        """Whether shard `index` is finished."""
        return self.path(index).is_file()

    def write(
        self,
        index: int,
        rows: pa.RecordBatch | list[dict[str, Any]],
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Write shard `index` atomically, with metadata about it."""
        write_table(self.path(index), [rows], self.schema, metadata)

    def read(self, indices: Iterable[int]) -> Iterator[pa.RecordBatch]:
        """Read the rows of these shards in order. Raise BridoError if one is missing."""
        for index in indices:
            yield from read_batches(self.path(index), self.schema, "")

    def metadata(self, index: int) -> dict[str, Any]:
        """Read the metadata of shard `index`."""
        return read_metadata(self.path(index), "")

    def clear(self) -> None:
        """Remove the work folder: call it when the stage's output is in place."""
        leave(self.folder)


# What computes numbers and texts besides our own code.
_PACKAGES = ("numpy", "pyarrow", "tokenizers", "torch", "transformers")


@cache
def code_key() -> str:
    """A hash of this package's code and of the versions that it computes with."""
    root = Path(brido.__file__).parent
    kernels = os.environ.get("ATEN_CPU_CAPABILITY", "")
    digest = hashlib.sha256(f"{platform.python_version()} {platform.machine()} {kernels}".encode())
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):  # a stage without a model needs no torch
            digest.update(f"\0{name} {version(name)}".encode())
    # The YAML files are the words and sentences of the embedded world.
    for file in sorted([*root.rglob("*.py"), *root.rglob("*.yaml")]):
        digest.update(f"\0{file.relative_to(root)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


class Kept:
    """The shards that a stage keeps, by key; for the process that holds the stage's lock."""

    def __init__(self, stage: str) -> None:
        self._folder = work_root() / "kept" / stage

    def take_over(self, key: str, path: Path) -> None:
        """Put the shard with this key at `path`, if it is kept."""
        if (kept := self._path(key)).is_file():
            with atomic_file(path) as temporary:
                shutil.copyfile(kept, temporary)

    def keep(self, shards: Iterable[tuple[str, Path]]) -> None:
        """Move shards here, by their keys, and remove all others."""
        self._folder.mkdir(parents=True, exist_ok=True)
        names = set()
        for key, path in shards:
            os.replace(path, self._path(key))
            names.add(self._path(key).name)
        for file in self._folder.iterdir():
            if file.name not in names:
                file.unlink()

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.parquet"
