"""Asking a server everything that is not answered yet, many calls at a time.

An answer is counted as soon as it is read and stored as soon as the disk takes it. A run that is
killed loses the calls in flight: the server may have answered them, and they are asked again.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from brido.endpoint.answers import Answer, Question
from brido.endpoint.budget import Budget, Report
from brido.endpoint.call import CallFailed, Server
from brido.endpoint.settings import EndpointRuntime
from brido.endpoint.store import AnswerStore
from brido.utils.errors import BridoError
from brido.utils.progress import say

# Seconds until an overloaded server is asked again, after the attempts of one call.
_PAUSE = 8.0
# So many questions given up before the first answer: all must be wrong.
_MOST_FAILURES = 10
# Seconds without any answer after which a line says so.
_SILENCE = 3.0


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
        """`advance(1)` is called for an answer; errors name `section`."""
        self._runtime, self._section = runtime, section
        self._store, self._budget, self._report = store, budget, report
        self._advance = advance
        # Why no further call starts.
        self._stop: BridoError | None = None
        # Answers that are not on the disk yet, and who may write.
        self._rows: list[tuple[Question, Answer]] = []
        self._disk = asyncio.Lock()

    async def run(self, questions: Sequence[Question]) -> None:
        """Ask all questions and commit every answer; nothing is returned, the store has them.

        A question that gets no answer in `max_attempts`, or that the server calls wrong, is left
        out; a server that is overloaded or away is asked again for `patience_seconds`.

        Raises:
            BridoError: nothing can be asked (key, model), no answer for `patience_seconds`, nothing
                but failures, or the budget is reached. Calls in flight are waited for and their
                answers committed.
        """
        asyncio.get_running_loop().set_exception_handler(_report_error)
        self._last_answer, self._silence_said = time.monotonic(), False
        self._stopped, self._number = asyncio.Event(), len(questions)
        self._server = Server(self._runtime, self._section, self._attempted)
        shared = iter(questions)
        workers = [self._work(shared) for _ in range(self._runtime.max_concurrency)]
        try:
            ends = await asyncio.gather(*workers, return_exceptions=True)
        finally:
            # After Ctrl-C too: answers that a stopped worker was about to commit.
            self._store.append(self._rows)
            await self._server.close()
        for end in (*ends, self._stop):
            if isinstance(end, Exception):
                raise end

    async def _work(self, questions: Iterator[Question]) -> None:
        """One of `max_concurrency` workers that share `questions`; the first error stops them all.

        Calls in flight then end by themselves.
        """
        try:
            for question in questions:
                if self._stop is not None:
                    return
                self._check_budget(question)
                await self._ask(question)
        except BridoError as error:
            self._stop = self._stop or error
            self._stopped.set()

    async def _ask(self, question: Question) -> None:
        """Ask one question until it is answered or given up."""
        started = time.monotonic()
        while self._stop is None:
            try:
                answer = await self._server.ask(question)
            except CallFailed as failure:
                patient = time.monotonic() - started < self._runtime.patience_seconds
                if not (failure.overloaded and patient):
                    self._give_up(question, failure)
                    return
                self._check_silence(failure.said)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), _PAUSE)
            else:
                await self._keep(question, answer)
                return

    async def _keep(self, question: Question, answer: Answer) -> None:
        """Count an answer, and return when it is on the disk; those that wait share a commit.

        A commit can take 0.1 s, and a thread does not delay other calls meanwhile. Rows stay in
        the list until they are written: writing them twice changes nothing.
        """
        self._last_answer, self._silence_said = time.monotonic(), False
        self._report.count(answer)
        self._budget.count(question.characters, answer)
        self._rows.append((question, replace(answer, received=time.time())))
        self._advance(1)
        async with self._disk:
            if rows := self._rows[:]:
                await asyncio.to_thread(self._store.append, rows)
                del self._rows[: len(rows)]
        if self._budget.limited and not (answer.prompt_tokens or answer.refused):
            raise BridoError(
                f"{self._section}: {self._runtime.section} sets a budget (max_cost, max_tokens), "
                "but the server does not report tokens: remove the budget, or use another server"
            )

    def _check_budget(self, question: Question) -> None:
        if reached := self._budget.reached(question.characters):
            raise BridoError(
                f"{self._section}: {self._runtime.section}.{reached} is reached: {self._budget}. "
                f"{self._report.answers:,} of the {self._number:,} answers that were missing came "
                "and are kept: raise the budget to go on"
            )

    def _give_up(self, question: Question, failure: CallFailed) -> None:
        """Leave a question out; BridoError if nothing but failures came."""
        self._report.given_up += 1
        self._report.said[failure.said] += 1
        if failure.overloaded:
            self._check_silence(failure.said)
        if self._report.given_up >= _MOST_FAILURES and not self._report.answers:
            advice = self._report.way_out(self._section, question.model.parameters)
            raise BridoError(f"{self._section}: every call fails ({failure.said}). {advice}")

    def _check_silence(self, said: str) -> None:
        """Raise BridoError if no answer has come for patience_seconds."""
        silent, server = time.monotonic() - self._last_answer, self._runtime.section
        if silent > self._runtime.patience_seconds:
            raise BridoError(
                f"{self._section}: the server has not answered for {silent:.0f} s (last: {said}). "
                "Answers so far are kept: run again to go on. Does a server run at "
                f"{server}.base_url? A slow one needs a larger {server}.timeout_seconds or a "
                f"smaller {server}.max_concurrency, one that starts a larger "
                f"{server}.patience_seconds"
            )

    def _attempted(self, kind: str) -> None:
        """Count an attempt and its trouble, and say when a server is silent."""
        self._report.calls += 1
        if not kind:
            return
        self._report.trouble[kind] += 1
        silent = time.monotonic() - self._last_answer
        if silent > _SILENCE and not self._silence_said:
            self._silence_said = True
            say(
                f"{self._section}: no answer for {silent:.0f} s ({kind}): asking again for "
                f"{self._runtime.patience_seconds:g} s in all "
                f"({self._runtime.section}.patience_seconds)"
            )


def _report_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that a loop found at its end, unless it is Ctrl-C inside a connection."""
    error = context.get("exception")
    if error is None or isinstance(error, Exception):
        loop.default_exception_handler(context)
