"""The finished shards of a stage's last run, which its next run takes over where nothing changed.

DVC removes a stage's outputs before it runs the stage again, so they lie outside:
`.brido/work/kept/STAGE/KEY.parquet`, as large as the stage's output. A key covers all that decides
a shard's bytes: settings, model, the shard's own documents, and the code (`code_key`). So more
training documents write no candidate of a validation document again.
"""

import contextlib
import os
import platform
import shutil
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import brido
from brido.utils.atomic import atomic_file
from brido.work.folder import work_root

# What computes numbers and texts besides our own code.
_PACKAGES = ("numpy", "pyarrow", "tokenizers", "torch", "transformers")


@cache
def code_key() -> str:
    """A hash of this package's code and of the versions that it computes with."""
    root = Path(brido.__file__).parent
    kernels = os.environ.get("ATEN_CPU_CAPABILITY", "")
    digest = sha256(f"{platform.python_version()} {platform.machine()} {kernels}".encode())
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
