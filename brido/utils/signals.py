"""SIGTERM and Ctrl-C end a command with a sentence and the exit code 128 + signal."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from brido.utils.progress import say

Handler = Callable[[int, FrameType | None], None]


class Stopped(KeyboardInterrupt):
    """SIGTERM or Ctrl-C reached a command: what cleans up at Ctrl-C does so at both."""

    number: int = signal.SIGINT


def end_at_signals() -> None:
    """From here on both signals end the process at once, with a sentence.

    For the seconds in which a command imports what it needs: it has begun nothing yet.
    """

    def end(number: int, _: FrameType | None) -> None:
        os.write(2, b"stopped before anything was begun: run again\n")
        os._exit(128 + number)

    _answer(end)


@contextmanager
def stop_at_signals() -> Iterator[None]:
    """A block in which both signals raise Stopped."""
    with answers_restored():
        _answer(_stop)
        hook, sys.unraisablehook = sys.unraisablehook, _stop_again
        try:
            yield
        finally:
            sys.unraisablehook = hook


@contextmanager
def answers_restored() -> Iterator[None]:
    """A block after which both signals are answered as they were before it."""
    former = _handlers()
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _handlers() -> dict[int, Any]:
    """What answers each of both signals; nothing outside of the main thread, which alone may."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {int(number): signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}


def _answer(handler: Handler) -> None:
    """Let `handler` answer both signals, except ignored ones."""
    for number, old in _handlers().items():
        if old != signal.SIG_IGN:
            signal.signal(number, handler)


def _stop(number: int, _: FrameType | None) -> None:
    stop = Stopped()
    stop.number = number
    raise stop


def _stop_again(ignored: Any) -> None:
    """A `sys.unraisablehook`: C code that calls Python loses its exceptions, Stopped among them."""
    if isinstance(ignored.exc_value, Stopped):
        arguments = (os.getpid(), ignored.exc_value.number)
        threading.Timer(0.1, os.kill, arguments).start()
    else:
        sys.__unraisablehook__(ignored)


@contextmanager
def stop_request() -> Iterator[list[int]]:
    """Note the first SIGTERM or SIGINT in the list that this gives, instead of obeying it.

    A second one is obeyed at once; an ignored one stays ignored. Outside the main thread signals
    cannot be caught.
    """
    received: list[int] = []
    former = _handlers()

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)
        signal.signal(number, former[number])

    with answers_restored():
        _answer(note)
        yield received


def stop(number: int, update: int) -> NoReturn:
    """End the process as the signal asked: KeyboardInterrupt, or exit status 128 + number."""
    kept = f"the state of update {update} is kept, run again to go on from there"
    if number == signal.SIGINT:
        raise KeyboardInterrupt(kept)
    say(f"stopped; {kept}")
    raise SystemExit(128 + number)
