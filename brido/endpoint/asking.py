"""Asking a server everything that is not answered yet, many calls at a time.

An answer is counted as soon as it is read and stored as soon as the disk takes it. A run that is
killed loses the calls in flight: the server may have answered them, and they are asked again.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from brido.endpoint.answers import Answer, Question
from brido.endpoint.budget import Budget, Report
from brido.endpoint.call import CallFailed, Connection
from brido.endpoint.settings import EndpointRuntime
from brido.endpoint.store import AnswerStore
from brido.utils.errors import BridoError

# Seconds between two attempts, doubled after each one that failed.
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 16.0
# Refused requests before the first answer: after so many, all of them must be wrong.
_MOST_REFUSALS = 10


def in_a_loop(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, in a notebook too, where this thread has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(coroutine)
        return
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, coroutine).result()


class Asking:
    """One run against one server. Use `run` once."""

    def __init__(
        self,
        runtime: EndpointRuntime,
        section: str,
        store: AnswerStore,
        budget: Budget,
        report: Report,
        advance: Callable[[int], None],
    ) -> None:
        """`advance(1)` is called when a question is done with; errors name `section`."""
        self._runtime, self._section = runtime, section
        self._store, self._budget, self._report = store, budget, report
        self._advance = advance
        # Why no further call starts.
        self._stop: BridoError | None = None
        self._refusals = 0
        # Answers that are not on the disk yet, and who may write.
        self._rows: list[tuple[Question, Answer]] = []
        self._disk = asyncio.Lock()

    async def run(self, questions: Iterable[Question]) -> None:
        """Ask all questions and commit every answer; nothing is returned, the store has them.

        A call is tried until it is answered, is refused, or failed `max_attempts` times; a server
        that is overloaded or away is asked again for `patience_seconds`. A question that gets no
        answer is not in the store.

        Raises:
            BridoError: nothing can be asked (key, model), no answer for `patience_seconds`, or the
                budget is reached. Calls in flight are waited for and their answers committed.
        """
        asyncio.get_running_loop().set_exception_handler(_report_error)
        self._last_answer = time.monotonic()
        self._stopped = asyncio.Event()
        self._connection = Connection(self._runtime, self._section)
        shared = iter(questions)
        workers = [self._work(shared) for _ in range(self._runtime.max_concurrency)]
        try:
            ends = await asyncio.gather(*workers, return_exceptions=True)
        finally:
            # After Ctrl-C too: answers that a stopped worker was about to commit.
            self._store.append(self._rows)
            await self._connection.close()
        for end in ends:
            if isinstance(end, Exception):
                raise end
        if self._stop is not None:
            raise self._stop

    async def _work(self, questions: Iterator[Question]) -> None:
        """One of `max_concurrency` workers that share `questions`; the first error stops them all.

        Calls in flight then end by themselves, and those that wait for another attempt at once.
        """
        try:
            for question in questions:
                await self._ask(question)
                if self._stop is not None:
                    return
                self._advance(1)
        except BridoError as error:
            self._stop = self._stop or error
            self._stopped.set()

    async def _ask(self, question: Question) -> None:
        failures = waits = 0
        while self._stop is None:
            try:
                return await self._attempt(question)
            except CallFailed as error:
                self._report.trouble[error.kind] += 1
                self._check_patience(error)
                failures += not error.is_overload
                if error.is_refusal or failures >= self._runtime.max_attempts:
                    return self._give_up(question, error)
                wait = error.retry_after or min(_LONGEST_WAIT, _FIRST_WAIT * 2**waits)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), wait * random.uniform(1.0, 1.25))
                waits = min(waits + 1, 10)

    async def _attempt(self, question: Question) -> None:
        with self._budget.reserve(question.characters):
            self._report.calls += 1
            answer = await self._connection.ask(question)
            self._received(question, answer)
        await self._commit()

    def _received(self, question: Question, answer: Answer) -> None:
        self._last_answer = time.monotonic()
        self._report.count(answer)
        self._budget.count(question.characters, answer.prompt_tokens, answer.answer_tokens)
        self._rows.append((question, answer))
        if self._budget.limited and not answer.prompt_tokens:
            raise BridoError(
                f"{self._section}: runtime.endpoint sets a budget (max_cost, max_tokens), but the "
                "server does not report tokens: remove the budget, or use another server"
            )

    async def _commit(self) -> None:
        """Return when the answers received so far are on the disk; those that wait share a commit.

        A commit can take 0.1 s, and a thread does not delay other calls meanwhile. Rows stay in
        the list until they are written: writing them twice changes nothing.
        """
        async with self._disk:
            if rows := self._rows[:]:
                await asyncio.to_thread(self._store.append, rows)
                del self._rows[: len(rows)]

    def _give_up(self, question: Question, error: CallFailed) -> None:
        self._report.given_up += 1
        self._refusals += error.is_refusal
        if self._refusals >= _MOST_REFUSALS and not self._report.answers:
            schema = "response_format" in question.model.parameters
            raise BridoError(
                f"{self._section}: the server refuses every call ({error.said}). It may not accept "
                f"a parameter of {self._section}: null leaves one out"
                f"{', structured_output: never leaves out the JSON schema' if schema else ''}. "
                "runtime.endpoint.show_content: true shows what the server says"
            )

    def _check_patience(self, error: CallFailed) -> None:
        """Raise BridoError if the server has been silent for too long, or asks to wait for long."""
        silent = time.monotonic() - self._last_answer
        patience = self._runtime.patience_seconds
        if silent > patience or (error.retry_after or 0) > patience:
            asked = f", asks to wait {error.retry_after:g} s" if error.retry_after else ""
            raise BridoError(
                f"{self._section}: the server has not answered for {silent:.0f} s (last: "
                f"{error.kind}{asked}). Answers so far are kept: run again to go on, or raise "
                "runtime.endpoint.patience_seconds"
            )


def _report_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that a loop found at its end, unless it is Ctrl-C inside a connection."""
    error = context.get("exception")
    if error is None or isinstance(error, Exception):
        loop.default_exception_handler(context)
