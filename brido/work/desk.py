"""Where a worker of a Ray cluster sits on its node, and what is done there."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import brido
from brido.utils.errors import BridoError
from brido.work.running import Seat
from brido.work.travel import Unpacker


@dataclass(frozen=True)
class Setup:
    """What a desk is told when it is set up, and again when it is lost and set up elsewhere.

    version: the driver's brido. environment: what a worker shares of the driver's. folder: the
    driver's, None where nodes do not see it. maker: the packed `MakeWorker`, called with `device`.
    """

    version: str
    environment: dict[str, str]
    folder: str | None
    maker: bytes
    device: str


class Desk:
    """A worker on a node; Ray makes an actor of it, with a thread more for `told`.

    It works in the driver's folder, or where that is None in its own, into which files travel. What
    a worker keeps for itself (answers of models) is in its own: SQLite's files cannot be shared
    between machines.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._own = ""
        self._seat: Seat | None = None
        self._told = 0

    def work(self, unit: bytes, stored: list[Any]) -> Any:
        """The packed unit's rows and counts, or the BridoError that it ends with.

        stored: references to the contents that maker and unit need.
        """
        import ray

        def unpack(parcel: bytes) -> Any:
            return Unpacker(Path(self._own)).unpack(parcel, lambda number: ray.get(stored[number]))

        try:
            if self._seat is None:
                self._settle()
                self._seat = Seat(unpack(self._setup.maker), self._setup.device, self._count)
            self._told = 0
            return self._seat(unpack(unit))
        except BridoError as error:
            return error

    def _settle(self) -> None:
        setup = self._setup
        if setup.version != brido.__version__:
            raise BridoError(
                f"runtime.engine: a node of the cluster has brido {brido.__version__}, and this "
                f"machine {setup.version}: install the same on all of them"
            )
        self._own = tempfile.mkdtemp(prefix="brido-")
        os.environ.update(setup.environment | {"BRIDO_WORK": self._own})
        try:
            os.chdir(setup.folder or self._own)
        except OSError as error:
            raise BridoError(
                f"runtime.ray.shared_files: a node cannot enter {setup.folder} ({error.strerror}): "
                "share the folder with all nodes, or set it to false"
            ) from None

    def _count(self, count: int) -> None:
        self._told += count

    def told(self) -> int:
        """How many documents of the unit in work are finished."""
        return self._told

    def leave(self) -> None:
        """Remove its own folder."""
        if self._own:
            shutil.rmtree(self._own, ignore_errors=True)
