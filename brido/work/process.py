"""A worker in a process of its own, which ends with the driver; errors say how it died."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Sized
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from brido.utils.errors import BridoError
from brido.work.worker import SAVE_MEMORY, SHARDS_STAY, Advance, LocalExecutor, MakeWorker, Result


class ProcessExecutor:
    """Starts a process for a worker and hands it units, one at a time.

    The process is spawned, not forked: neither CUDA nor threads survive a fork.
    """

    def __init__(self, make_worker: MakeWorker, device: str, advance: Advance) -> None:
        context = multiprocessing.get_context("spawn")
        self._advance = advance
        self._connection, theirs = context.Pipe()
        arguments = (theirs, make_worker, device)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        # Ctrl-C reaches all processes of a terminal: the driver answers it and ends this one.
        # The tracker, started beside the first process, would take the block away.
        resource_tracker.ensure_running()
        former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, former)
        theirs.close()  # so that its death ends the pipe

    def __call__(self, unit: Sized) -> Result:
        """See `Executor`."""
        try:
            self._connection.send(unit)
            while isinstance(answer := self._connection.recv(), int):
                self._advance(answer)
        except (EOFError, OSError):
            raise BridoError(self._death()) from None
        if isinstance(answer, BridoError):
            raise answer
        return answer

    def _death(self) -> str:
        self._process.join()
        code = self._process.exitcode or 0
        if code >= 0:
            return f"a worker process failed (exit code {code}), see above; {SHARDS_STAY}"
        reason = " (memory ran out, or it was killed)" if -code == signal.SIGKILL else ""
        name = signal.Signals(-code).name
        return f"a worker process was ended by {name}{reason}; {SHARDS_STAY}, {SAVE_MEMORY}"

    def close(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.join()


def _serve(connection: Connection, make_worker: MakeWorker, device: str) -> None:
    """Run the worker's process: units come in, counts and then an answer go out."""
    threading.Thread(target=_end_with_driver, daemon=True).start()
    execute = LocalExecutor(make_worker, device, connection.send)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            unit = connection.recv()
            answer: Any
            try:
                answer = execute(unit)
            except BridoError as error:
                answer = error
            connection.send(answer)


def _end_with_driver() -> None:
    """End this process when the driver ends: a killed driver ends no worker itself."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
    os._exit(1)
