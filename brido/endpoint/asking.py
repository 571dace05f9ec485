"""Asking a server everything that is not answered yet, many calls at a time.

An answer is counted as soon as it is read and stored as soon as the disk takes it. A run that is
killed loses the calls in flight: the server may have answered them, and they are asked again.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from brido.endpoint.answers import NO_ANSWER, Answer, Question
from brido.endpoint.budget import EMPTY_RESPONSE, Budget, Report
from brido.endpoint.call import CallFailed, Server
from brido.endpoint.settings import EndpointRuntime
from brido.endpoint.store import AnswerStore
from brido.utils.errors import BridoError
from brido.utils.progress import say

# Seconds until an overloaded server is asked again, after the attempts of one call.
_PAUSE = 8.0
# So many questions given up before the first answer, and as many as the store has answers to the
# same plan: all must be wrong.
_MOST_FAILURES = 10


@dataclass(eq=False)
class Asking:
    """One run against one server. Use `run` once. `advance(1)` is called for an answer.

    stored: how many answers of the plan there are; its model and parameters are then known to work.
    """

    runtime: EndpointRuntime
    section: str
    store: AnswerStore
    budget: Budget
    report: Report
    advance: Callable[[int], None]
    stored: int = 0
    # Why no further call starts, and whether it was said that a server is waited for.
    _stop: BridoError | None = None
    _waits: bool = False
    # Answers that are not on the disk yet, and who may write.
    _rows: list[tuple[Question, Answer]] = field(default_factory=list)
    _disk: asyncio.Lock = field(default_factory=asyncio.Lock)

    def run(self, questions: Sequence[Question]) -> None:
        """Ask all questions and commit every answer; nothing is returned, the store has them.

        A question that gets no answer in `max_attempts`, or that the server calls wrong, is left
        out; a server that is overloaded or away is asked again for `patience_seconds`.

        Raises:
            BridoError: nothing can be asked (key, model), no answer for `patience_seconds`, nothing
                but failures, or the budget is reached. Calls in flight are waited for and their
                answers committed.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(self._run(questions))
            return
        with ThreadPoolExecutor(1) as thread:  # a notebook, whose thread has a running loop
            thread.submit(asyncio.run, self._run(questions)).result()

    async def _run(self, questions: Sequence[Question]) -> None:
        asyncio.get_running_loop().set_exception_handler(_report_error)
        self._last_answer = time.monotonic()
        self._server = Server(self.runtime, self.section, self.report.attempted)
        shared = iter(questions)
        workers = [self._work(shared) for _ in range(self.runtime.max_concurrency)]
        try:
            ends = await asyncio.gather(*workers, return_exceptions=True)
        finally:
            # After Ctrl-C too: answers that a stopped worker was about to commit.
            self.store.append(self._rows)
            await self._server.client.close()
        for end in (*ends, self._stop):
            if isinstance(end, Exception):
                raise end

    async def _work(self, questions: Iterator[Question]) -> None:
        """One of `max_concurrency` workers that share `questions`; the first error stops them all.

        Calls in flight then end by themselves.
        """
        try:
            for question in questions:
                if self._stop is None:
                    await self._ask(question)
        except BridoError as error:
            self._stop = self._stop or error

    async def _ask(self, question: Question) -> None:
        """Ask one question until it is answered or given up."""
        if reached := self.budget.reached(question.characters):
            raise BridoError(
                f"{self.section}: {self.runtime.section}.{reached} is reached: {self.budget}. "
                f"{self.report.answers:,} new answers are kept: raise the budget to go on"
            )
        started = time.monotonic()
        while self._stop is None:
            try:
                answer = await self._server.ask(question)
            except CallFailed as failure:
                if failure.overloaded:
                    self._check_silence(str(failure))
                patient = time.monotonic() - started < self.runtime.patience_seconds
                if not (failure.overloaded and patient):
                    self._give_up(question, str(failure))
                    return
                await asyncio.sleep(min(_PAUSE, self.runtime.patience_seconds))
            else:
                await self._keep(question, answer)
                return

    async def _keep(self, question: Question, answer: Answer) -> None:
        """Count an answer, and return when it is on the disk; those that wait share a commit.

        A commit can take 0.1 s, and a thread does not delay other calls meanwhile. Rows stay in
        the list until they are written: writing them twice changes nothing.
        """
        self._last_answer = time.monotonic()
        self.report.count(answer)
        self.budget.count(question.characters, answer)
        self._rows.append((question, replace(answer, received=time.time())))
        self.advance(1)
        async with self._disk:
            if rows := self._rows[:]:
                await asyncio.to_thread(self.store.append, rows)
                del self._rows[: len(rows)]
        if answer.finish_reason == NO_ANSWER:
            self._give_up(question, EMPTY_RESPONSE)
        if self.budget.limited and not (answer.prompt_tokens or answer.refused):
            raise BridoError(
                f"{self.section}: {self.runtime.section} sets a budget (max_cost, max_tokens), "
                "but the server does not report tokens: remove the budget, or use another server"
            )

    def _give_up(self, question: Question, said: str) -> None:
        """Leave a question out; BridoError if nothing but failures came."""
        self.report.given_up[said] += 1
        most = max(_MOST_FAILURES, self.stored)
        if self.report.given_up.total() >= most and not self.report.answers:
            advice = self.report.way_out(self.section, question.model.parameters)
            raise BridoError(f"{self.section}: every call fails ({said}). {advice}")

    def _check_silence(self, said: str) -> None:
        """Say once that a server is waited for; BridoError if it is silent for patience_seconds."""
        silent, server = time.monotonic() - self._last_answer, self.runtime.section
        if silent > self.runtime.patience_seconds:
            raise BridoError(
                f"{self.section}: the server has not answered for {silent:.0f} s (last: {said}). "
                "Answers so far are kept: run again to go on. Does a server run at "
                f"{server}.base_url? A slow one needs a larger {server}.timeout_seconds or a "
                f"smaller {server}.max_concurrency, one that starts a larger "
                f"{server}.patience_seconds"
            )
        if not self._waits:
            self._waits = True
            say(f"{self.section}: {said}: asking again ({server}.patience_seconds)")


def _report_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that a loop found at its end, unless it is Ctrl-C inside a connection."""
    error = context.get("exception")
    if error is None or isinstance(error, Exception):
        loop.default_exception_handler(context)
