"""A command `brido summarize` that a test can kill: a fork, so that nothing is imported again."""

import os
import signal
import sys
import time
from pathlib import Path

from brido.cli.main import main
from brido.utils.errors import run_command


def start(arguments: list[str]) -> int:
    """Start the command in a process of its own; returns its number."""
    process = os.fork()
    if process:
        return process
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the process ends
    try:
        run_command(lambda: main(["summarize", *arguments]))
    except SystemExit as end:
        os._exit(int(end.code or 0))
    os._exit(0)


def kill_when(process: int, path: Path, size: int, seconds: float = 60.0) -> bool:
    """Kill the process when a file has more bytes than `size`; False if it ended before."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.waitpid(process, os.WNOHANG)[0]:
            return False
        if path.exists() and path.stat().st_size > size:
            break
        time.sleep(0.001)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return True


def end(process: int) -> int:
    """Wait until the process ends; its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
