"""Asking an endpoint everything that is not answered yet, in parallel, through its bad moments."""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from brido.errors import BridoError
from brido.evaluation.geval.answers import Answer, Question
from brido.evaluation.geval.budget import Budget
from brido.evaluation.geval.endpoint import CallFailed, Endpoint
from brido.evaluation.geval.limiter import AdaptiveLimit
from brido.evaluation.geval.store import Row, Store
from brido.evaluation.geval.writer import Writer
from brido.settings import JudgeRuntime

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
# Calls that the server calls wrong before anything was answered: then it is not the calls.
_WRONG_CALLS = 10


@dataclass
class Report:
    """What happened: answers that came, calls sent, calls given up and trouble by kind."""

    answers: int = 0
    calls: int = 0
    given_up: int = 0
    trouble: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        text = f"{self.answers:,} answers from {self.calls:,} calls"
        if self.given_up:
            text += f", {self.given_up:,} questions given up"
        if self.trouble:
            kinds = ", ".join(f"{count:,} {what}" for what, count in self.trouble.most_common())
            text += f" (trouble: {kinds})"
        return text


class Asker:
    """One run against one endpoint. Use `run` once."""

    def __init__(
        self,
        endpoint: Endpoint,
        store: Store,
        runtime: JudgeRuntime,
        budget: Budget,
        report: Report,
        advance: Callable[[int], None] = lambda count: None,
    ) -> None:
        """`report` is counted on; `advance(samples)` is called when a call is done with."""
        self._endpoint, self._store, self._runtime = endpoint, store, runtime
        self._budget = budget
        self._limit = AdaptiveLimit(runtime.max_concurrency)
        self._stop: BridoError | None = None
        self._stopping = asyncio.Event()
        self._wrong = 0
        self._last_answer = time.monotonic()
        self.report, self._advance = report, advance

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
        async with Writer(self._store) as self._writer:
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
            self._advance(len(question.samples))

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
                self.report.trouble[error.what] += 1
                self._check_health(error)
                failures += not error.overloaded
                waits += 1
                if error.final or failures >= self._runtime.max_attempts:
                    self.report.given_up += 1
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
            reservation = self._budget.reserve(question.characters, len(question.samples))
            try:
                self.report.calls += 1
                answers = await self._endpoint.ask(question)
                self._count(question, answers)
            finally:
                self._budget.release(reservation)
        except CallFailed as error:
            if error.overloaded or error.what == "timeout":
                self._limit.slow_down(admitted_at, error.retry_after)
            raise
        else:
            self._limit.succeeded()
        finally:
            self._limit.release()
        samples = question.samples[: len(answers)]
        await self._writer.commit(
            [
                Row(question.judge, question.key, sample, 0 if i else question.characters, answer)
                for i, (sample, answer) in enumerate(zip(samples, answers, strict=True))
            ]
        )
        return answers

    def _count(self, question: Question, answers: list[Answer]) -> None:
        self._last_answer = time.monotonic()
        self.report.answers += len(answers)
        paid = answers[0]
        if self._budget.limited and not paid.prompt_tokens:
            # The answer itself is kept by the caller; only further calls are not made.
            self._stop_all(
                BridoError(
                    "runtime.judge: a budget (max_cost, max_tokens) is set, but the judge's "
                    "server reports no token usage: take the budget away or use another server"
                )
            )
        self._budget.count(question.characters, paid.prompt_tokens, paid.answer_tokens)

    def _check_health(self, error: CallFailed) -> None:
        """Stop where further calls are pointless."""
        silent = time.monotonic() - self._last_answer
        patience = self._runtime.patience_seconds
        self._wrong += error.final and error.status is not None
        if self._wrong >= _WRONG_CALLS and not self.report.answers:
            raise BridoError(
                f"the judge's server refuses every call ({error.what}): a parameter of "
                "evaluation.geval may be one it does not take (null leaves it out); "
                "runtime.judge.show_content: true shows the server's own words"
            )
        if silent > patience or (error.retry_after or 0.0) > patience:
            raise BridoError(
                f"the judge's server gave no answer for {silent:.0f} s (last: {error.what}"
                f"{self._asks_to_wait(error)}); everything answered so far is kept, run again "
                "to go on, or raise runtime.judge.patience_seconds"
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
