"""SIGTERM and Ctrl-C end a command alike: it cleans up, says what is kept, exits with 128 + signal.

An ignored signal stays ignored. Outside of the main thread signals cannot be caught.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

Handler = Callable[[int, FrameType | None], None]


class Stopped(KeyboardInterrupt):
    """SIGTERM or Ctrl-C reached a command: what cleans up at Ctrl-C does so at both."""

    number: int = signal.SIGINT


def end_at_signals() -> None:
    """From here on both signals end the process at once, with a sentence.

    For the seconds in which a command imports: libraries answer a stop there with errors of theirs.
    """

    def end(number: int, _: FrameType | None) -> None:
        os.write(2, b"stopped before anything was begun: run again\n")
        os._exit(128 + number)

    _answer(end)


@contextmanager
def answering(handler: Handler | None = None) -> Iterator[None]:
    """A block in which both signals call `handler`; behind it they are answered as before."""
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        if handler:
            _answer(handler)
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, answer in former.items():
                signal.signal(number, answer)


@contextmanager
def stop_request() -> Iterator[list[int]]:
    """Note the first SIGTERM or SIGINT in the list that this gives; a second one stops at once."""
    received: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        if received:
            stop(number)
        received.append(number)

    with answering(note):
        yield received


def stop(number: int, kept: str = "") -> NoReturn:
    """Raise Stopped as the signal asks; kept: what is kept, for the command's last words."""
    stopped = Stopped(kept)
    stopped.number = number
    raise stopped


def _answer(handler: Handler) -> None:
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, handler)
