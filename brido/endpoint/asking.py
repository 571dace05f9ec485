"""Asking a server everything that is not answered yet, many calls at a time.

An answer is counted as soon as it is read and stored as soon as the disk takes it. A run that is
killed loses calls in flight: the server may have answered them, and they are asked again. Nobody
can do better, because an answer exists here only when it has arrived.
"""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from brido.endpoint.answers import Answer, Question
from brido.endpoint.budget import Budget, Report
from brido.endpoint.call import CallFailed, Connection
from brido.endpoint.settings import EndpointRuntime
from brido.endpoint.store import AnswerStore, Row
from brido.utils.errors import BridoError

# Seconds before a call that used up its attempts at an overloaded server is asked again.
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 30.0
# Calls that the server calls wrong before anything was answered: then it is not the calls.
_WRONG_CALLS = 10


def in_a_loop(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end; in a notebook, where this thread has a running loop, too."""
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
        """`advance(samples)` is called when a call is done with; errors name `section`."""
        self._runtime, self._section = runtime, section
        self._store, self._budget, self._report = store, budget, report
        self._advance = advance
        self._stop: BridoError | None = None
        # Workers whose last attempt failed: they wait for the next one.
        self._waiting: set[asyncio.Task[Any]] = set()
        self._wrong = 0
        # Answers that are not on the disk yet, and who may write.
        self._rows: list[Row] = []
        self._disk = asyncio.Lock()

    async def run(self, questions: Iterable[Question]) -> None:
        """Ask all questions and commit every answer; nothing is returned, the store has them.

        A call is tried until it is answered, is wrong, or used up `max_attempts`; a server that is
        overloaded or away is asked again for `patience_seconds`. A question that gets no answer is
        not in the store.

        Raises:
            BridoError: nothing can be asked (key, model), no answer for `patience_seconds`, or the
                budget is reached. Calls in flight are waited for and their answers committed.
        """
        parts = self._parts(questions)
        self._last_answer = time.monotonic()
        self._connection = Connection(
            self._runtime, self._section, self._attempt, self._attempt_failed
        )
        count = self._runtime.max_concurrency
        workers = [self._work(parts) for _ in range(count)]
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

    def _parts(self, questions: Iterable[Question]) -> Iterator[Question]:
        """Questions cut into calls of at most `samples_per_call` samples."""
        size = self._runtime.samples_per_call
        for question in questions:
            for start in range(0, len(question.samples), size):
                yield replace(question, samples=question.samples[start : start + size])

    async def _work(self, parts: Iterator[Question]) -> None:
        """One of `max_concurrency` workers that share `parts`."""
        for part in parts:
            try:
                await self._ask(part)
            except BridoError as error:
                self._stop_all(error)
            if self._stop is not None:
                return
            self._advance(len(part.samples))

    def _stop_all(self, error: BridoError) -> None:
        """Start no further call: calls in flight end by themselves, those that wait at once."""
        if self._stop is None:
            self._stop = error
            for worker in self._waiting - {_this_worker()}:
                worker.cancel()

    async def _ask(self, question: Question) -> None:
        """Ask until every sample of `question` is answered, or the call is given up."""
        waits = 0
        while question.samples and self._stop is None:
            try:
                answers = await self._call(question)
            except CallFailed as error:
                if not error.overloaded:
                    self._give_up(error)
                    return
                wait = error.retry_after or min(_LONGEST_WAIT, _FIRST_WAIT * 2**waits)
                await asyncio.sleep(wait * random.uniform(1.0, 1.25))
                waits = min(waits + 1, 5)
            else:
                waits = 0
                rest = [sample for sample in question.samples if sample not in answers]
                question = replace(question, samples=rest)

    async def _call(self, question: Question) -> dict[int, Answer]:
        reservation = self._budget.reserve(question.characters, len(question.samples))
        try:
            answers = await self._connection.ask(question)
            self._received(question, answers)
        finally:
            self._budget.release(reservation)
        await self._commit()
        return answers

    def _received(self, question: Question, answers: dict[int, Answer]) -> None:
        """Count the answers of one call; stop if a budget cannot be kept."""
        self._last_answer = time.monotonic()
        prompt_tokens = sum(answer.prompt_tokens for answer in answers.values())
        answer_tokens = sum(answer.answer_tokens for answer in answers.values())
        self._report.answers += len(answers)
        self._report.prompt_tokens += prompt_tokens
        self._report.answer_tokens += answer_tokens
        self._budget.count(question.characters, prompt_tokens, answer_tokens)
        for number, (sample, answer) in enumerate(answers.items()):
            length = 0 if number else question.characters
            self._rows.append(Row(question.model, question.key, sample, length, answer))
        if self._budget.limited and not prompt_tokens:
            self._stop_all(
                BridoError(
                    f"{self._section}: a budget (runtime.endpoint: max_cost, max_tokens) is set, "
                    "but the server reports no token usage: take the budget away or use another "
                    "server"
                )
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

    def _give_up(self, error: CallFailed) -> None:
        """Leave a question out; stop if the server calls every question wrong."""
        self._report.given_up += 1
        self._wrong += error.status is not None and error.status < 500
        if self._wrong >= _WRONG_CALLS and not self._report.answers:
            raise BridoError(
                f"{self._section}: the server refuses every call ({error.what}): a parameter of "
                f"{self._section} may be one it does not take (null leaves it out); "
                "runtime.endpoint.show_content: true shows the server's own words"
            )

    def _attempt(self) -> None:
        """Count an attempt; after a stop none follows one that failed."""
        if self._stop is not None and _this_worker() in self._waiting:
            raise asyncio.CancelledError
        self._waiting.discard(_this_worker())
        self._report.calls += 1

    def _attempt_failed(self, what: str, retry_after: int | None) -> None:
        """Count a failed attempt; stop if the server has been silent for too long."""
        self._report.trouble[what] += 1
        self._waiting.add(_this_worker())
        silent = time.monotonic() - self._last_answer
        patience = self._runtime.patience_seconds
        if silent > patience or (retry_after or 0) > patience:
            asked = "" if retry_after is None else f", asks to wait {retry_after} s"
            self._stop_all(
                BridoError(
                    f"{self._section}: the server gave no answer for {silent:.0f} s (last: {what}"
                    f"{asked}); everything answered so far is kept, run again to go on, or raise "
                    "runtime.endpoint.patience_seconds"
                )
            )
        if self._stop is not None:
            raise asyncio.CancelledError


def _this_worker() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task
