"""Training on several processes: accelerate starts them, and says who is the main one.

`BRIDO_LAUNCH` holds arguments for `accelerate launch` (`--num_processes 8`, machines, a config
file); stage train, finding it, starts itself again through it.
"""

import os
import shlex
import sys


def relaunch(module: str) -> None:
    """Replace this process by `accelerate launch` if BRIDO_LAUNCH is set.

    `module` (such as `stages.train`) is then run with this command line's arguments by every
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


def is_main() -> bool:
    """Whether this process writes the checkpoint and reports, as its launcher numbers it."""
    return int(os.environ.get("RANK", "0")) == 0
