"""A first call that compiles says so: without a word it looks as if it hung."""

from contextlib import AbstractContextManager

from numba.core.event import Event, Listener, install_listener

from brido.utils.progress import say


class _Told(Listener):
    told = False

    def on_start(self, event: Event) -> None:
        if not self.told:
            say("compiling for this machine: some seconds, the first time only")
        self.told = True

    def on_end(self, event: Event) -> None:
        pass


def told_when_compiling() -> AbstractContextManager[None]:
    """Return a block in which functions that compile say so on stderr, once together."""
    block: AbstractContextManager[None] = install_listener("numba:compile", _Told())
    return block
