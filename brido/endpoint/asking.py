"""Asking an endpoint everything that is not answered yet, in parallel, through its bad moments."""

import asyncio
import contextlib
import random
import time
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from brido.endpoint.answers import Answer, Question
from brido.endpoint.call import CallFailed, Connection, Wanted
from brido.endpoint.ledger import Ledger
from brido.endpoint.limiter import AdaptiveLimit
from brido.endpoint.settings import EndpointRuntime
from brido.endpoint.writer import Writer
from brido.utils.errors import BridoError

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
# Calls that the server calls wrong before anything was answered: then it is not the calls.
_WRONG_CALLS = 10


class Server:
    """The respondent that is an OpenAI-compatible server (see `ledger.Respondent`)."""

    def __init__(
        self, runtime: EndpointRuntime, section: str, wanted: Wanted = lambda token: True
    ) -> None:
        """`section` is what errors name; `wanted(token)` says whose alternatives are kept."""
        self._runtime, self._section, self._wanted = runtime, section, wanted

    def ask(self, questions: Iterable[Question], ledger: Ledger) -> None:
        """Ask all questions, many at a time; see `_Run.run`."""
        _in_a_loop(self._ask(questions, ledger))

    async def _ask(self, questions: Iterable[Question], ledger: Ledger) -> None:
        connection = Connection(self._runtime, self._section, self._wanted)
        try:
            await _Run(connection, self._runtime, self._section, ledger).run(questions)
        finally:
            await connection.close()


def _in_a_loop(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, in a notebook too, where this thread has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(coroutine)
        return
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, coroutine).result()


class _Run:
    """One run against one server. Use `run` once."""

    def __init__(
        self, connection: Connection, runtime: EndpointRuntime, section: str, ledger: Ledger
    ) -> None:
        self._connection, self._runtime, self._section = connection, runtime, section
        self._ledger, self._report = ledger, ledger.report
        self._limit = AdaptiveLimit(runtime.max_concurrency)
        self._stop: BridoError | None = None
        self._stopping = asyncio.Event()
        self._wrong = 0
        self._last_answer = time.monotonic()

    async def run(self, questions: Iterable[Question]) -> None:
        """Ask all questions and commit every answer; nothing is returned, the store has them.

        A call is tried until it is answered, is wrong, or used up `max_attempts`; answers that did
        not come are simply not in the store.

        Raises:
            BridoError: nothing can be asked (key, model), no answer for `patience_seconds`, or the
                budget is reached. Calls in flight are waited for and their answers committed.
        """
        parts = self._parts(questions)
        self._last_answer = time.monotonic()
        # Half as many workers again as calls in flight: while an answer waits for the disk (a
        # synced commit can take 0.1 s), another worker asks.
        count = self._runtime.max_concurrency + (self._runtime.max_concurrency + 1) // 2
        async with Writer(self._ledger.store) as self._writer:
            workers = [self._work(parts) for _ in range(count)]
            await asyncio.gather(*workers)
        if self._stop is not None:
            raise self._stop

    def _parts(self, questions: Iterable[Question]) -> Iterator[Question]:
        """Questions cut into calls of at most `samples_per_call` samples."""
        size = self._runtime.samples_per_call
        for question in questions:
            for start in range(0, len(question.samples), size):
                yield replace(question, samples=question.samples[start : start + size])

    async def _work(self, parts: Iterator[Question]) -> None:
        """One of the workers that share `parts`: they bound the calls waiting for another try."""
        for question in parts:
            try:
                await self._ask(question)
            except BridoError as error:
                self._stop_all(error)
            if self._stop is not None:
                return
            self._ledger.advance(len(question.samples))

    def _stop_all(self, error: BridoError) -> None:
        """Start no further call; calls in flight end in peace, waiting ones at once."""
        self._stop = self._stop or error
        self._stopping.set()
        self._limit.end_pause()

    async def _ask(self, question: Question) -> None:
        """Ask until every sample of `question` is answered, or the call is given up."""
        failures = waits = 0
        while question.samples and self._stop is None:
            try:
                answers = await self._attempt(question)
            except CallFailed as error:
                self._report.trouble[error.what] += 1
                self._check_health(error)
                failures += not error.overloaded
                waits += 1
                if error.final or failures >= self._runtime.max_attempts:
                    self._report.given_up += 1
                    return
                await self._wait(error, waits)
            else:
                failures = waits = 0
                question = replace(question, samples=question.samples[len(answers) :])

    async def _attempt(self, question: Question) -> list[Answer]:
        admitted_at = await self._limit.acquire()
        try:
            if self._stop is not None:
                return []
            reservation = self._ledger.budget.reserve(question.characters, len(question.samples))
            try:
                self._report.calls += 1
                answers = await self._connection.ask(question)
                rows = self._ledger.received(question, answers)
                self._check_answer(answers[0])
            finally:
                self._ledger.budget.release(reservation)
        except CallFailed as error:
            if error.overloaded or error.what == "timeout":
                self._limit.slow_down(admitted_at, error.retry_after)
            raise
        else:
            self._limit.succeeded()
        finally:
            self._limit.release()
        await self._writer.commit(rows)
        return answers

    def _check_answer(self, first: Answer) -> None:
        """Note that the server is well; start no further call where a budget cannot be kept."""
        self._last_answer = time.monotonic()
        if self._ledger.budget.limited and not first.prompt_tokens:
            # The answer itself is kept by the caller.
            self._stop_all(
                BridoError(
                    f"{self._section}: a budget (runtime.endpoint: max_cost, max_tokens) is set, "
                    "but the server reports no token usage: take the budget away or use another "
                    "server"
                )
            )

    def _check_health(self, error: CallFailed) -> None:
        """Stop where further calls are pointless."""
        silent = time.monotonic() - self._last_answer
        patience = self._runtime.patience_seconds
        self._wrong += error.final and error.status is not None
        if self._wrong >= _WRONG_CALLS and not self._report.answers:
            raise BridoError(
                f"{self._section}: the server refuses every call ({error.what}): a parameter of "
                f"{self._section} may be one it does not take (null leaves it out); "
                "runtime.endpoint.show_content: true shows the server's own words"
            )
        if silent > patience or (error.retry_after or 0.0) > patience:
            raise BridoError(
                f"{self._section}: the server gave no answer for {silent:.0f} s (last: "
                f"{error.what}{self._asks_to_wait(error)}); everything answered so far is kept, "
                "run again to go on, or raise runtime.endpoint.patience_seconds"
            )

    @staticmethod
    def _asks_to_wait(error: CallFailed) -> str:
        return "" if error.retry_after is None else f", asks to wait {error.retry_after:.0f} s"

    async def _wait(self, error: CallFailed, waits: int) -> None:
        """Wait as the server asks, else exponentially longer; never all calls together."""
        if error.retry_after is not None:
            delay = error.retry_after * random.uniform(1.0, 1.25) + random.uniform(0.0, 0.05)
        else:
            delay = random.uniform(0.5, 1.0) * min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (waits - 1))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), delay)
