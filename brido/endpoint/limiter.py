"""How many calls may be in flight: a number that follows what the server bears."""

import asyncio
import time
from collections import deque


class AdaptiveLimit:
    """Admission of calls, at most `cap` in flight, fewer while the server asks for it.

    The limit doubles from round to round at first, then grows by one a round; a server that asks
    to slow down takes a tenth of it away (half, if nothing was answered since the last cut), once
    for all calls that were in flight together. Close below the number that was too many it grows
    ten times more slowly, so that few calls are refused. While a `Retry-After` runs, nobody is
    admitted.
    """

    def __init__(self, cap: int, start: int = 16) -> None:
        self.cap = cap
        self.limit = float(min(start, cap))
        self.in_flight = 0
        self._too_many = float("inf")
        self._starting = True
        self._answered = False
        self._slowed_at = 0.0
        self._paused_until = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def acquire(self) -> float:
        """Wait to be admitted; returns the time of admission, for `slow_down`."""
        if self._waiting or not self._free():
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            self._wake_later()
            try:
                await future
            except asyncio.CancelledError:
                if future.done() and not future.cancelled():
                    self.release()
                raise
        else:
            self.in_flight += 1
        return time.monotonic()

    def release(self) -> None:
        """Give an admission back."""
        self.in_flight -= 1
        self._admit()

    def succeeded(self) -> None:
        """An answer came: the limit may grow."""
        self._answered = True
        if self._starting:
            step = 1.0
        elif self.limit < 0.95 * self._too_many:
            step = 1.0 / self.limit
        else:
            step = 0.1 / self.limit
        self.limit = min(float(self.cap), self.limit + step)

    def slow_down(self, admitted_at: float, retry_after: float | None) -> None:
        """The server refused a call for load; calls admitted before the last cut cut no more."""
        now = time.monotonic()
        if retry_after:
            self._paused_until = max(self._paused_until, now + retry_after)
        if admitted_at >= self._slowed_at:
            self._starting = False
            self._too_many = self.limit
            self.limit = max(1.0, self.limit * (0.9 if self._answered else 0.5))
            self._slowed_at = now
            self._answered = False

    def end_pause(self) -> None:
        """Forget a `Retry-After` that still runs: the calls that wait are to be ended."""
        self._paused_until = 0.0
        self._admit()

    def _free(self) -> bool:
        return self.in_flight < int(self.limit) and time.monotonic() >= self._paused_until

    def _admit(self) -> None:
        while self._waiting and self._free():
            future = self._waiting.popleft()
            if not future.done():
                self.in_flight += 1
                future.set_result(None)
        self._wake_later()

    def _wake_later(self) -> None:
        """Admit again when the pause ends; otherwise a release does it."""
        delay = self._paused_until - time.monotonic()
        if self._waiting and delay > 0 and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(delay, self._pause_over)

    def _pause_over(self) -> None:
        self._timer = None
        self._admit()
