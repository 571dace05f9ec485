"""Commands in forks of this process, which has their imports done already, killed at a moment."""

import multiprocessing
import os
import runpy
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path


def start(folder: Path, *words: str) -> BaseProcess:
    """`python -m WORDS` in `folder`; what it says is in the file log there."""
    process = multiprocessing.get_context("fork").Process(target=_run, args=(folder, words))
    process.start()
    return process


def _run(folder: Path, words: tuple[str, ...]) -> None:
    os.chdir(folder)
    sys.stdout = sys.stderr = open("log", "a")  # noqa: SIM115 - until the process ends
    os.environ["NUMBA_CACHE_DIR"] = str(folder / "kernels")
    sys.argv = [*words]
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


def finish(folder: Path, *words: str) -> None:
    """Run a command to its end, which must be a good one."""
    process = start(folder, *words)
    process.join(600)
    assert process.exitcode == 0, (folder / "log").read_text()[-3000:]


def kill_when(process: BaseProcess, condition: Callable[[], bool], later: float = 0.0) -> bool:
    """SIGKILL `later` seconds after the condition holds; False if the process ended before."""
    deadline = time.monotonic() + 600
    while process.is_alive() and not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    time.sleep(later)
    process.kill()
    process.join()
    return process.exitcode is not None and process.exitcode < 0
