"""Work for another machine: whatever is pickled, its files and folders with their content.

A worker's arguments and its units name what they read by paths. Where the other machine sees the
same file system nothing else is needed. Where it does not, every path that stands there travels as
its content, is laid down by the worker, and arrives as the path of that copy.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

# What a path is while it travels: its number, its own name, and each file's name below it ("" for
# a file itself) with the number of its content among all that is stored.
Label = tuple[int, str, tuple[tuple[str, int], ...]]


class Packer:
    """Pickles what refers to files; `store(content)` keeps a content and says how to get it back.

    A path's content is stored once, however often it travels. Without `store` paths stay paths.
    """

    def __init__(self, store: Callable[[bytes], Any] | None) -> None:
        self._store = store
        self._labels: dict[Path, Label | None] = {}
        self.stored: list[Any] = []

    def pack(self, item: Any) -> bytes:
        """The pickled item; what `store` said stands in `stored`, to travel beside it."""
        packer = self

        class Pickler(pickle.Pickler):
            def persistent_id(self, part: Any) -> Label | None:
                return packer._label(part) if isinstance(part, Path) else None

        target = io.BytesIO()
        Pickler(target, pickle.HIGHEST_PROTOCOL).dump(item)
        return target.getvalue()

    def _label(self, path: Path) -> Label | None:
        if self._store is None:
            return None
        if path not in self._labels:
            # What does not stand there stays as it is.
            self._labels[path] = self._add(path, self._store) if path.exists() else None
        return self._labels[path]

    def _add(self, path: Path, store: Callable[[bytes], Any]) -> Label:
        files = [path] if path.is_file() else sorted(i for i in path.rglob("*") if i.is_file())
        placed = []
        for file in files:
            name = "" if file == path else file.relative_to(path).as_posix()
            placed.append((name, len(self.stored)))
            self.stored.append(store(file.read_bytes()))
        return len(self._labels), path.resolve().name, tuple(placed)


class Unpacker:
    """Lays down what one packer sends below `folder`, each path once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def unpack(self, parcel: bytes, fetch: Callable[[int], bytes]) -> Any:
        """The item; `fetch(number)` is the content that the packer stored under that number."""
        unpacker = self

        class Reader(pickle.Unpickler):
            def persistent_load(self, label: Label) -> Path:
                return unpacker._lay_down(label, fetch)

        return Reader(io.BytesIO(parcel)).load()

    def _lay_down(self, label: Label, fetch: Callable[[int], bytes]) -> Path:
        number, name, placed = label
        path = self._folder / str(number) / name
        if not path.exists():
            for relative, content in placed:
                target = path / relative if relative else path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(fetch(content))
        return path
