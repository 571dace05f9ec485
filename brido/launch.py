"""Several processes on one stage: accelerate starts them, shards on a shared disk divide the work.

`BRIDO_LAUNCH` holds arguments for `accelerate launch` (`--num_processes 8`, machines, a config
file); a stage that finds it starts itself again through it. Processes meet in the work folder
alone: each does its own shards first and then whatever nobody has finished, so a process or a
machine may die without holding up the rest.
"""

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from brido.progress import Progress
from brido.shards import Shards


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

    sizes: the number of documents of each shard. Equal shards are equal whoever makes them, so two
    processes that happen to make the same one do no harm.
    """
    process = this_process()
    if process.count > 1:
        label = f"{label} (process {process.rank + 1} of {process.count})"
    own = range(process.rank, len(sizes), process.count)
    done = [index for index in own if shards.done(index)]
    with Progress(label, sum(sizes[index] for index in own), interval=interval) as progress:
        progress.skip(sum(sizes[index] for index in done))
        for index in _to_do(shards, len(sizes), process):
            rows, metadata = make(index, progress.advance)
            shards.write(index, rows, metadata)


def _to_do(shards: Shards, count: int, process: Process) -> Iterator[int]:
    """Shards that are missing when their turn comes: this process's own, then the others'."""
    own = list(range(process.rank, count, process.count))
    # Backwards: the others work forwards, so both meet late.
    others = [index for index in reversed(range(count)) if index not in set(own)]
    for index in [*own, *others]:
        if not shards.done(index):
            yield index
