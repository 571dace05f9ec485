"""Progress that a person reads: a bar on a terminal, one flushed line per interval elsewhere."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


class Progress:
    """Counts finished units of work and shows rate and time left, on stderr.

    >>> with Progress("score test", total=3, unit="documents") as progress:
    ...     progress.advance(3, note="loss 0.1")

    `total` None means that it is not known. Units found already done (`skip`) count as done, not
    as speed. `interval` is the number of seconds between lines when stderr is no terminal.
    """

    def __init__(
        self, label: str, total: int | None, unit: str = "documents", interval: float = 10.0
    ) -> None:
        self.label, self.total, self.unit, self.interval = label, total, unit, interval
        self.done = self.skipped = 0
        self.note = ""
        self._bar: Bar | None = None

    def __enter__(self) -> "Progress":
        self._start = self._last = time.monotonic()
        self._bar = _bar()
        if self._bar is not None:
            self._task = self._bar.add_task(self.label, total=self.total, rate="")
            self._bar.start()
        return self

    def skip(self, count: int) -> None:
        """Count `count` units as found done: by an earlier run, or by another process."""
        self.skipped += count
        self._show()

    def advance(self, count: int = 1, note: str = "") -> None:
        """Count `count` more units as finished now; `note` is shown beside the rate."""
        self.done += count
        self.note = note or self.note
        self._show()

    def _show(self) -> None:
        if self._bar is not None:
            text = f"{self._rate()} {self.note}"
            self._bar.update(self._task, completed=self.done + self.skipped, rate=text)
        elif time.monotonic() - self._last >= self.interval:
            self._last = time.monotonic()
            self._line()

    def _rate(self) -> str:
        rate = self.done / max(time.monotonic() - self._start, 1e-9)
        return f"{rate:,.0f} {self.unit}/s" if rate >= 10 else f"{rate:.2f} {self.unit}/s"

    def _line(self) -> None:
        finished = self.done + self.skipped
        parts = [f"{self.label}: {finished:,}"]
        if self.total is not None:
            parts[0] += f"/{self.total:,}"
        parts[0] += f" {self.unit}"
        parts.append(self._rate())
        if self.total is not None and self.done and finished < self.total:
            elapsed = time.monotonic() - self._start
            parts.append(f"{elapsed / self.done * (self.total - finished):,.0f} s left")
        if self.skipped:
            parts.append(f"{self.skipped:,} found done")
        if self.note:
            parts.append(self.note)
        print(", ".join(parts), file=sys.stderr, flush=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif kind is None:
            self._line()


def _bar() -> "Bar | None":
    """A bar on a terminal; none elsewhere, or without rich, which the wheel alone does not need."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ModuleNotFoundError:
        return None
    console = Console(stderr=True)
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn())
    rate = TextColumn("{task.fields[rate]}")
    bar = Bar(*columns, rate, TimeRemainingColumn(), console=console)
    return bar if console.is_terminal else None


# (label, total, unit) -> a display to be entered, for work that somebody else shows or hides.
MakeProgress = Callable[[str, int | None, str], Progress]


class _Quiet(Progress):
    """Counts, and shows nothing."""

    def __enter__(self) -> "_Quiet":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def _show(self) -> None:
        pass


def quiet(label: str, total: int | None, unit: str = "documents") -> Progress:
    """A `Progress` that shows nothing: for work of seconds, or inside another progress."""
    return _Quiet(label, total, unit)


def say(message: str) -> None:
    """Print one line of information on stderr at once."""
    print(message, file=sys.stderr, flush=True)
