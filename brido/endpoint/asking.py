"""Asking a server everything that is not answered yet, many calls at a time.

An answer is counted as soon as it is read and stored as soon as the disk takes it. A run that is
killed loses the calls in flight: the server may have answered them, and they are asked again.
"""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from typing import Any

from brido.endpoint.answers import Answer, Question
from brido.endpoint.budget import Budget, BudgetReached, Report
from brido.endpoint.call import CallFailed, Connection
from brido.endpoint.gate import Gate
from brido.endpoint.settings import EndpointRuntime
from brido.endpoint.store import AnswerStore
from brido.utils.errors import BridoError
from brido.utils.progress import say

# Seconds between two attempts, doubled after each one that failed.
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 16.0
# Before the first answer: after so many equal failures, one of them so often, all must be wrong.
_MOST_EQUAL, _MOST_ATTEMPTS = 10, 3
# Seconds without any answer after which a line says so.
_SILENCE = 3.0

Call = Sequence[Question]


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
        choices: int,
    ) -> None:
        """`advance(1)` is called for an answer; errors name `section`.

        `choices`: how many samples of a question one call asks for.
        """
        self._runtime, self._section = runtime, section
        self._store, self._budget, self._report = store, budget, report
        self._advance, self._choices = advance, choices
        # Why no further call starts.
        self._stop: BridoError | None = None
        self._equal: Counter[str] = Counter()
        # Answers that are not on the disk yet, and who may write.
        self._rows: list[tuple[Question, Answer]] = []
        self._disk = asyncio.Lock()

    async def run(self, questions: Sequence[Question]) -> None:
        """Ask all questions and commit every answer; nothing is returned, the store has them.

        A call is tried until it is answered, is refused, or failed `max_attempts` times; a server
        that is overloaded or away is asked again for `patience_seconds`. A question that gets no
        answer is not in the store.

        Raises:
            BridoError: nothing can be asked (key, model), no answer for `patience_seconds`, nothing
                but failures, or the budget is reached. Calls in flight are waited for and their
                answers committed.
        """
        asyncio.get_running_loop().set_exception_handler(_report_error)
        self._last_answer, self._silence_said = time.monotonic(), False
        self._stopped, self._gate = asyncio.Event(), Gate(self._runtime.max_concurrency)
        self._connection = Connection(self._runtime, self._section)
        shared = iter(self._calls(questions))
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
        if isinstance(self._stop, BudgetReached):
            raise BridoError(
                f"{self._stop}. {self._report.answers:,} of the {len(questions):,} answers that "
                "were missing came and are kept: raise the budget to go on"
            )
        if self._stop is not None:
            raise self._stop

    def _calls(self, questions: Sequence[Question]) -> Iterator[Call]:
        """The questions in the order in which they are asked, together where one call asks them."""
        for _, same in groupby(questions, lambda question: question.key):
            waiting = list(same)
            while waiting:
                # What the server gives is learned in the meantime.
                yield waiting[: self._choices]
                del waiting[: self._choices]

    async def _work(self, calls: Iterator[Call]) -> None:
        """One of `max_concurrency` workers that share `calls`; the first error stops them all.

        Calls in flight then end by themselves, and those that wait for another attempt at once.
        """
        try:
            for call in calls:
                await self._ask(call)
                if self._stop is not None:
                    return
        except BridoError as error:
            self._stop = self._stop or error
            self._stopped.set()

    async def _ask(self, call: Call) -> None:
        """Ask until every question of a call is answered or given up."""
        left = list(call)
        while left and self._stop is None:
            chunk = left[: self._choices]
            left = [*(await self._ask_chunk(chunk) or ()), *left[len(chunk) :]]

    async def _ask_chunk(self, call: Call) -> Call | None:
        """Ask one call until it is answered; return the questions to be asked alone.

        None if it was given up.
        """
        failures = crowded = waits = 0
        while self._stop is None:
            try:
                return await self._attempt(call)
            except CallFailed as error:
                self._report.failed(error.kind, error.said)
                if len(call) > 1 and error.is_refusal and not error.too_long:
                    # A filter refuses the prompt alone as well: then it is not about the choices.
                    if await self._ask_chunk(call[:1]) is None:
                        self._report.given_up += len(call) - 1
                        return None
                    return [] if self._stop else self._without_choices(call[1:], error.said)
                failures += not (error.is_overload or error.is_timeout)
                crowded += error.is_timeout
                self._check_failure(call, error, failures)
                if error.paid is not None:
                    await self._commit()
                most = self._runtime.max_attempts
                if error.is_final or max(failures, crowded) >= most:
                    self._report.given_up += len(call)
                    return None
                wait = error.retry_after or min(_LONGEST_WAIT, _FIRST_WAIT * 2**waits)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), wait * random.uniform(1.0, 1.25))
                waits = min(waits + 1, 10)
        return []

    async def _attempt(self, call: Call) -> Call:
        """Send a call; return those of its questions for which the server gave no choice."""
        async with self._gate.call() as sent:
            if self._stop is not None:
                return []
            with self._budget.reserve(call[0].characters, len(call)):
                self._report.calls += 1
                try:
                    answers = await self._connection.ask(call)
                except CallFailed as error:
                    if error.paid is not None:
                        self._paid(call[0], error.paid)
                    if error.is_timeout and self._gate.timed_out(sent):
                        self._say_slow()
                    raise
                for question, answer in zip(call, answers, strict=False):
                    self._received(question, answer)
        if self._budget.limited and not answers[0].prompt_tokens:
            raise BridoError(
                f"{self._section}: {self._runtime.section} sets a budget (max_cost, max_tokens), "
                "but the server does not report tokens: remove the budget, or use another server"
            )
        await self._commit()
        left = call[len(answers) :]
        return self._without_choices(left, f"{len(answers)} of {len(call)} choices") if left else []

    def _received(self, question: Question, answer: Answer) -> None:
        self._last_answer, self._silence_said = time.monotonic(), False
        self._gate.answered()
        self._report.count(answer)
        self._paid(question, answer)
        self._advance(1)

    def _paid(self, question: Question, answer: Answer) -> None:
        """Count what an answer took, and have it stored."""
        self._budget.count(question.characters, answer.prompt_tokens, answer.answer_tokens)
        self._rows.append((question, replace(answer, received=time.time())))

    async def _commit(self) -> None:
        """Return when the answers received so far are on the disk; those that wait share a commit.

        A commit can take 0.1 s, and a thread does not delay other calls meanwhile. Rows stay in
        the list until they are written: writing them twice changes nothing.
        """
        async with self._disk:
            if rows := self._rows[:]:
                await asyncio.to_thread(self._store.append, rows)
                del self._rows[: len(rows)]

    def _without_choices(self, left: Call, said: str) -> Call:
        """Ask for one choice a call from now on, and say so; return what is to be asked again."""
        if self._choices > 1:
            say(
                f"{self._section}: the server does not give {self._choices} choices a call "
                f"({said}): they are asked for one by one (choices_per_call)"
            )
        self._choices = 1
        return left

    def _say_slow(self) -> None:
        say(
            f"{self._section}: calls time out after {self._runtime.timeout_seconds:g} s, so at "
            f"most {self._gate.limit} are in flight now. If the server is slow, lower "
            f"{self._runtime.section}.max_concurrency or raise "
            f"{self._runtime.section}.timeout_seconds"
        )

    def _check_failure(self, call: Call, error: CallFailed, failures: int) -> None:
        """Raise BridoError if nothing but equal failures came, or nothing at all for too long."""
        lasting = error.is_final or failures >= _MOST_ATTEMPTS
        if not (error.is_overload or error.is_timeout or error.is_lost):
            self._equal[error.said] += 1
            if lasting and self._equal[error.said] >= _MOST_EQUAL and not self._report.answers:
                advice = self._report.way_out(self._section, call[0].model.parameters)
                raise BridoError(f"{self._section}: every call fails ({error.said}). {advice}")
        silent = time.monotonic() - self._last_answer
        patience = self._runtime.patience_seconds
        if silent > patience or (error.retry_after or 0) > patience:
            asked = f", asks to wait {error.retry_after:g} s" if error.retry_after else ""
            server = self._runtime.section
            more = f", or {server}.timeout_seconds" if error.is_timeout else ""
            if error.is_unreachable:
                more = f". Does a server run at {server}.base_url, with this port?"
            raise BridoError(
                f"{self._section}: the server has not answered for {silent:.0f} s (last: "
                f"{error.kind}{asked}). Answers so far are kept: run again to go on, or raise "
                f"{server}.patience_seconds{more}"
            )
        if silent > _SILENCE and not self._silence_said and not error.is_final:
            self._silence_said = True
            say(
                f"{self._section}: no answer for {silent:.0f} s ({error.kind}): asking again for "
                f"{patience:g} s in all ({self._runtime.section}.patience_seconds)"
            )


def _report_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that a loop found at its end, unless it is Ctrl-C inside a connection."""
    error = context.get("exception")
    if error is None or isinstance(error, Exception):
        loop.default_exception_handler(context)
