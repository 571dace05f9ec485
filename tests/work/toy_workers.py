"""Workers that spawned processes can import, and a driver that a test can kill."""

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from brido.tables import DECODED
from brido.utils.errors import BridoError, run_command
from brido.work.running import Workers, run
from brido.work.shards import Shards

UNITS = [range(first, first + 3) for first in range(0, 30, 3)]


def contents(shards):
    """The bytes of all shards."""
    return [shards.path(index).read_bytes() for index in range(len(UNITS))]


class Toy:
    """Writes down who it is and what it did in `folder`; does `mischief` in the unit of row 12."""

    def __init__(self, folder, mischief, device, advance):
        self.folder, self.mischief, self.device, self.advance = folder, mischief, device, advance
        self.name = f"{os.getpid()}-{id(self)}"
        (folder / f"made-{self.name}").write_text(device)

    def __call__(self, unit):
        if 12 in unit:
            self.mischief(self.folder)
        self.advance(1)
        (self.folder / f"did-{unit.start}").write_text(str(os.getpid()))
        rows = [{"id": str(row), "summary": "s" * row, "score": row / 7} for row in unit]
        return rows, {"rows": len(rows), "sum": sum(unit)}


def behave(folder):
    """No mischief."""


def complain(folder):
    raise BridoError("row 12 is no good:\n  - at all")


def fail(folder):
    raise ZeroDivisionError("a programming error")


def exhaust(folder):
    """Asks for more memory than any machine has."""
    bytearray(1 << 60)


def die_once(folder):
    """As the system ends a process when memory runs out; the second time all is well."""
    try:
        (folder / "died").touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def die_always(folder):
    """As where memory never suffices."""
    os.kill(os.getpid(), signal.SIGKILL)


def meet(folder):
    """Waits for the other worker, which units this short would leave nothing to do."""
    deadline = time.monotonic() + 300
    while len(list(folder.glob("made-*"))) < 2:
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def sleep(folder):
    (folder / "asleep").touch()
    time.sleep(600)


def maker(folder, mischief=behave):
    """A picklable MakeWorker."""
    return partial(Toy, Path(folder), mischief)


def main():
    """Two workers in the folder of the command line; one of them falls asleep."""
    # A shell that starts tests in the background lets them ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = Path(sys.argv[1])
    shards = Shards("toy", "key", DECODED)
    run(shards, UNITS, maker(folder, sleep), Workers(("cpu", "cpu")), "toy")


if __name__ == "__main__":
    run_command(main)
