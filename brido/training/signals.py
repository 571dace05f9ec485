"""SIGTERM and Ctrl-C as a request that is looked at between two updates."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class StopRequest:
    """Inside the `with` block, the first SIGTERM or SIGINT is remembered instead of obeyed.

    `received` is its number, 0 for none. A second one is obeyed at once. Outside the main thread
    signals cannot be caught and the block does nothing.
    """

    SIGNALS = (signal.SIGTERM, signal.SIGINT)

    def __init__(self) -> None:
        self.received = 0

    def __enter__(self) -> StopRequest:
        self._former: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            self._former = {number: signal.signal(number, self._note) for number in self.SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _note(self, number: int, _: FrameType | None) -> None:
        self.received = number
        signal.signal(number, self._former[number])
