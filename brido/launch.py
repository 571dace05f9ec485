"""Several processes on one stage: accelerate starts them, shards on a shared disk divide the work.

`BRIDO_LAUNCH` holds arguments for `accelerate launch` (`--num_processes 8`, machines, a config
file); a stage that finds it starts itself again through it. Processes meet in the work folder
alone: each does its own shards first and then what nobody else works on. A shard being worked on
has a claim file that its process touches every few seconds, so the shards of a process or machine
that died are taken over by the others.
"""

import contextlib
import os
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brido.progress import Progress
from brido.work.shards import Shards

TOUCH_SECONDS = 5.0
# A claim that nobody touched for so long belongs to a process that died.
STALE_SECONDS = 45.0


@dataclass(frozen=True)
class Process:
    """This process among `count`; local_rank counts those of one machine, rank all of them."""

    rank: int = 0
    count: int = 1
    local_rank: int = 0

    @property
    def is_main(self) -> bool:
        """Whether this process puts the shards together and reports."""
        return self.rank == 0


def this_process() -> Process:
    """The place of this process, as accelerate's launcher says it in the environment."""
    names = {"rank": ("RANK", 0), "count": ("WORLD_SIZE", 1), "local_rank": ("LOCAL_RANK", 0)}
    return Process(**{key: int(os.environ.get(*map(str, name))) for key, name in names.items()})


def relaunch(module: str) -> None:
    """Nothing where BRIDO_LAUNCH is not set; else this process becomes `accelerate launch`.

    `module` (such as `stages.generate`) is then run with this command line's arguments by every
    process that accelerate starts; those return from here at once.
    """
    arguments = os.environ.get("BRIDO_LAUNCH")
    if not arguments or os.environ.get("BRIDO_LAUNCHED"):
        return
    os.environ["BRIDO_LAUNCHED"] = "1"
    sys.stdout.flush()
    sys.stderr.flush()
    command = [sys.executable, "-m", "accelerate.commands.launch", *shlex.split(arguments)]
    os.execv(sys.executable, [*command, "--module", module, *sys.argv[1:]])


# Rows and metadata of one shard; the second argument counts finished units for the progress line.
MakeShard = Callable[[int, Callable[[int], None]], tuple[list[dict[str, Any]], dict[str, Any]]]


def do_shards(
    shards: Shards, sizes: list[int], label: str, interval: float, make: MakeShard
) -> None:
    """Finish every shard that is not done yet, together with the other processes.

    sizes: the number of documents of each shard. Returns when all shards are done, whoever did
    them. Equal shards are equal whoever makes them, so one made twice does no harm.
    """
    process = this_process()
    if process.count > 1:
        label = f"{label} (process {process.rank + 1} of {process.count})"
    own = range(process.rank, len(sizes), process.count)
    # The others' shards backwards: they work forwards, so both meet late.
    order = [*own, *(i for i in reversed(range(len(sizes))) if i % process.count != process.rank)]
    with Progress(label, sum(sizes), interval=interval) as progress:
        while order and shards.folder.is_dir():  # the main process removes it in the end
            there = {path.name for path in shards.folder.iterdir()}
            progress.skip(sum(sizes[i] for i in order if shards.path(i).name in there))
            order = [i for i in order if shards.path(i).name not in there]
            for index in order:
                with _claim(shards.path(index).with_suffix(".claim"), process) as mine:
                    if mine and not shards.done(index):
                        rows, metadata = make(index, progress.advance)
                        shards.write(index, rows, metadata)
                        order.remove(index)
                        break
            else:
                if order:
                    time.sleep(1.0)


@contextlib.contextmanager
def _claim(path: Path, process: Process) -> Iterator[bool]:
    """Whether this process may work on the shard of `path`; the claim ends with the block."""
    if process.count == 1:
        yield True
        return
    try:
        path.touch(exist_ok=False)
    except FileNotFoundError:
        yield False
        return
    except FileExistsError:
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime < STALE_SECONDS:
                yield False
                return
    stop = threading.Event()
    keeper = threading.Thread(target=_keep_touching, args=(path, stop), daemon=True)
    keeper.start()
    try:
        yield True
    finally:
        stop.set()
        keeper.join()
        path.unlink(missing_ok=True)


def _keep_touching(path: Path, stop: threading.Event) -> None:
    while not stop.is_set():
        with contextlib.suppress(OSError):
            path.touch()
        stop.wait(TOUCH_SECONDS)
