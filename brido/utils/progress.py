"""Progress that a person reads: a bar on a terminal, one message per interval elsewhere."""

import logging
import sys
import time
from collections.abc import Callable
from typing import Any

# Units a second below which the seconds of a unit say more.
_SLOW = 0.1


class Progress:
    """Counts finished units of work and shows rate and time left, on stderr.

    >>> with Progress("score test", total=3, unit="documents") as progress:
    ...     progress.advance(3, note="loss 0.1")

    `total` None means that it is not known. Units found already done (`skip`) count as done, not
    as speed. `interval` is the number of seconds between lines where stderr is not a terminal.
    Where `shown` is False it only counts.
    """

    def __init__(
        self,
        label: str,
        total: int | None,
        unit: str = "documents",
        interval: float = 10.0,
        shown: bool = True,
    ) -> None:
        self.label, self.total, self.unit, self.interval = label, total, unit, interval
        self.done = self.skipped = self.tokens = 0
        self.note = ""
        self._shown = shown
        self._bar: Any = None
        self._told = -1

    def __enter__(self) -> "Progress":
        self._start = self._last = time.monotonic()
        self._bar = _bar() if self._shown else None
        if self._bar is not None:
            self._task = self._bar.add_task(self.label, total=self.total, rate="")
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._shown and kind is None and self._told != self.done + self.skipped:
            self._line()

    def skip(self, count: int) -> None:
        """Count `count` units as found done: by an earlier run, or by another process."""
        self.skipped += count
        self._show()

    def advance(self, count: int = 1, note: str = "", tokens: int = 0) -> None:
        """Count `count` more units as finished now, and `tokens` as written; show `note` too.

        Within a unit that takes long, `advance(0, note)` says how far it is.
        """
        self.done += count
        self.tokens += tokens
        self.note = note or self.note
        self._show()

    def _show(self) -> None:
        if self._bar is not None:
            text = f"{self._rate()} {self.note}"
            self._bar.update(self._task, completed=self.done + self.skipped, rate=text)
        elif self._shown and time.monotonic() - self._last >= self.interval:
            self._last = time.monotonic()
            self._line()

    def _rate(self) -> str:
        """How fast it goes, as far as that is known; may be empty."""
        rate = self.done / max(time.monotonic() - self._start, 1e-9)
        tokens = f"{self.tokens:,} tokens written" if self.tokens else ""
        if not self.done:
            return tokens
        if rate < _SLOW:
            speed = f"{1 / rate:,.0f} s for each of the {self.unit}"
        else:
            speed = f"{rate:,.0f} {self.unit}/s" if rate >= 10 else f"{rate:.2f} {self.unit}/s"
        return f"{speed}, {tokens}" if tokens else speed

    def _line(self) -> None:
        finished = self._told = self.done + self.skipped
        total = "" if self.total is None else f"/{self.total:,}"
        parts = [f"{self.label}: {finished:,}{total} {self.unit}", self._rate()]
        if self.total is not None and self.done and finished < self.total:
            elapsed = time.monotonic() - self._start
            parts.append(f"{elapsed / self.done * (self.total - finished):,.0f} s left")
        if self.skipped:
            parts.append(f"{self.skipped:,} found done")
        say(", ".join(filter(None, [*parts, self.note])))


def _bar() -> Any:
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        return None
    return progress.Progress(
        "{task.description}",
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TimeRemainingColumn(),
        console=console,
    )


# (label, total, unit) -> a display to be entered; the caller decides whether it is shown.
MakeProgress = Callable[[str, int | None, str], Progress]


def quiet(label: str, total: int | None, unit: str = "documents") -> Progress:
    """A `Progress` that shows nothing: for work of seconds, or inside another progress."""
    return Progress(label, total, unit, shown=False)


# What the library says goes here: no handler is its own, `show_messages` is for commands.
LOGGER = logging.getLogger("brido")


def say(message: str) -> None:
    """Say one line: at level WARNING what says that it is a warning, else at INFO."""
    LOGGER.log(logging.WARNING if "warning: " in message else logging.INFO, "%s", message)


class _Lines(logging.Handler):
    """Each message is a line on the stderr of its moment, at once."""

    def emit(self, record: logging.LogRecord) -> None:
        print(record.getMessage(), file=sys.stderr, flush=True)


def show_messages() -> None:
    """From here on a command's or stage's messages are lines on stderr."""
    if not any(isinstance(handler, _Lines) for handler in LOGGER.handlers):
        LOGGER.addHandler(_Lines())
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False  # a library may configure the root, which would say all twice
