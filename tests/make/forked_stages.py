"""Stages started as DVC starts them, in processes that have their imports done already.

A server process imports what stages import and runs nothing; every stage is a fork of it. So a test
that kills a stage thirty times does not import PyTorch thirty times.
"""

import multiprocessing
import os
import runpy
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dvc_project import ROOT

IMPORTED = [f"stages.{path.stem}" for path in (ROOT / "stages").glob("*.py")]
MODULES = ["torch", "transformers", *IMPORTED]


class Stages:
    """Starts stages in a folder; the server process ends with this one."""

    def __init__(self) -> None:
        # The server has no other way to know where modules are.
        paths = [str(ROOT), str(Path(__file__).parent)]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(MODULES)

    def start(self, folder: Path, command: str, outputs: list[str]) -> Any:
        """`python -m stages.NAME ...` in `folder`, its outputs removed before, as DVC does."""
        for output in outputs:
            path = folder / output
            if path.is_dir():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
        words = shlex.split(command)
        assert words[:2] == ["python", "-m"]
        process: Any = self._context.Process(target=run_module, args=(folder, words[2:]))
        process.start()
        return process

    def run(self, folder: Path, command: str, outputs: list[str]) -> None:
        """Run a stage to its end, which must be a good one."""
        process = self.start(folder, command, outputs)
        process.join(600)
        assert process.exitcode == 0, (folder / "log").read_text()[-3000:]

    def kill_when(self, process: Any, condition: Callable[[], bool], later: float) -> bool:
        """SIGKILL `later` seconds after the condition holds; False if the process ended before."""
        deadline = time.monotonic() + 600
        while process.is_alive() and not condition():
            assert time.monotonic() < deadline
            time.sleep(0.003)
        time.sleep(later)
        alive: bool = process.is_alive()
        if alive:
            os.kill(process.pid, signal.SIGKILL)
        process.join()
        return alive and process.exitcode == -signal.SIGKILL


def run_module(folder: Path, words: list[str]) -> None:
    """What happens in a stage's process."""
    os.chdir(folder)
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ["NUMBA_CACHE_DIR"] = str(folder / "kernels")
    sys.argv = [*words]
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
