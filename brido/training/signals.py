"""SIGTERM and Ctrl-C as a request that is looked at between two updates."""

from __future__ import annotations

import signal
import threading
from types import FrameType

import torch
from accelerate import Accelerator


class StopRequest:
    """Inside the `with` block, the first SIGTERM or SIGINT is remembered instead of obeyed.

    A second one is obeyed at once. Outside the main thread signals cannot be caught and the block
    does nothing.
    """

    SIGNALS = (signal.SIGTERM, signal.SIGINT)

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.received = 0

    def __enter__(self) -> StopRequest:
        self._former = {}
        if threading.current_thread() is threading.main_thread():
            self._former = {number: signal.signal(number, self._note) for number in self.SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _note(self, number: int, _: FrameType | None) -> None:
        self.received = number
        signal.signal(number, self._former[number])

    def agreed(self, due: bool) -> tuple[int, bool]:
        """The signal that any process received, 0 for none, and whether a state is to be written:
        `due` as the first process has it. All processes get the same answer.

        Writing may be a meeting of all, and their clocks are not the same.
        """
        accelerator = self.accelerator
        if accelerator.num_processes == 1:
            return self.received, due
        own = [[self.received, int(due and accelerator.is_main_process)]]
        number, first = accelerator.gather(torch.tensor(own, device=accelerator.device)).amax(0)
        return int(number), bool(first)
