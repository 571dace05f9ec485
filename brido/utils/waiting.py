"""How the threads of PyTorch wait for each other."""

import os


def let_threads_sleep() -> None:
    """Let them sleep soon after they have nothing to do; call it before PyTorch is imported.

    By default libgomp's threads wait actively for milliseconds. Where other programs want the
    processor, that keeps off the thread they wait for: a step of a language model took 12 times as
    long on two busy cores. 1000 rounds, some microseconds, are libgomp's own choice where it knows
    that there are more threads than cores. A value of the user's stays.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
