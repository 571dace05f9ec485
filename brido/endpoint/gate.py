"""How many calls are in flight: `max_concurrency`, and fewer at a server that is too slow for it.

A server that works on one call after another lets most of many calls time out, and works on all of
them. In the time that one call may take, the server answered so many calls: half as many at once
are what it can do.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

# Answers for each call in flight after which one more is let through.
_PATIENT = 10


class Sent(NamedTuple):
    """When a call went out, and how many answers had come by then."""

    time: float
    answers: int


class Gate:
    """Lets at most `limit` calls through; `answered` raises the limit, `timed_out` lowers it."""

    def __init__(self, most: int) -> None:
        self.limit, self._most = most, most
        self._running = self._answers = 0
        self._lowered, self._since = -1.0, 0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def call(self) -> AsyncIterator[Sent]:
        """Wait until a call may go out, and count it within the block."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._running < self.limit)
            self._running += 1
        try:
            yield Sent(time.monotonic(), self._answers)
        finally:
            self._running -= 1
            async with self._changed:
                self._changed.notify_all()

    def answered(self) -> None:
        """Count an answer; after many of them one more call is let through."""
        self._answers += 1
        self._since += 1
        if self.limit < self._most and self._since >= _PATIENT * self.limit:
            self.limit, self._since = self.limit + 1, 0

    def timed_out(self, sent: Sent) -> bool:
        """Lower the limit if the server answers fewer calls in a call's time than are in flight.

        Calls that went out before the limit was lowered say nothing new. Returns whether it fell.
        """
        answers = self._answers - sent.answers
        if self.limit == 1 or sent.time <= self._lowered or answers >= self.limit:
            return False
        self.limit, self._since = max(1, answers // 2), 0
        self._lowered = time.monotonic()
        return True
