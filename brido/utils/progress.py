"""Progress that a person reads: a bar on a terminal, one message per interval elsewhere."""

import logging
import sys
import time
from collections.abc import Callable
from typing import Any


class Progress:
    """Counts finished units of work and shows rate and time left, on stderr.

    >>> with Progress("score test", total=3, unit="documents") as progress:
    ...     progress.advance(3, note="loss 0.1")

    `total` None means that it is not known. `interval` is the number of seconds between lines where
    stderr is not a terminal. Where `shown` is False it only counts.
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
        if self._shown and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(desc=self.label, total=self.total, unit=self.unit, smoothing=0)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._shown and kind is None and self._told != self.done + self.skipped:
            self._line()

    def skip(self, count: int) -> None:
        """Count `count` units as found done, not as speed."""
        self.skipped += count
        if self._bar is not None:
            self._bar.initial = self.skipped
        self._show()

    def advance(self, count: int = 1, note: str = "", tokens: int = 0) -> None:
        """Count `count` more units as finished now, and `tokens` as written; show `note` too."""
        self.done += count
        self.tokens += tokens
        self.note = note or self.note
        self._show()

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(self._more(), refresh=False)
            self._bar.update(self.done + self.skipped - self._bar.n)
        elif self._shown and time.monotonic() - self._last >= self.interval:
            self._last = time.monotonic()
            self._line()

    def _more(self) -> str:
        tokens = f"{self.tokens:,} tokens written" if self.tokens else ""
        skipped = f"{self.skipped:,} found done" if self.skipped else ""
        return ", ".join(filter(None, [tokens, skipped, self.note]))

    def _line(self) -> None:
        finished, elapsed = self.done + self.skipped, time.monotonic() - self._start
        self._told = finished
        total = "" if self.total is None else f"/{self.total:,}"
        parts = [f"{self.label}: {finished:,}{total} {self.unit}"]
        if self.done:
            parts.append(f"{self.done / max(elapsed, 1e-9):,.2f} {self.unit}/s")
            if self.total is not None and finished < self.total:
                parts.append(f"{elapsed / self.done * (self.total - finished):,.0f} s left")
        say(", ".join(filter(None, [*parts, self._more()])))


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
    """Each message is a line on the stderr of its moment, at once, above a bar."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm

        tqdm.write(record.getMessage(), file=sys.stderr)
        sys.stderr.flush()


def show_messages() -> None:
    """From here on a command's or stage's messages are lines on stderr."""
    if not any(isinstance(handler, _Lines) for handler in LOGGER.handlers):
        LOGGER.addHandler(_Lines())
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False  # a library may configure the root, which would say all twice
