"""The client: asks, keeps every answer, and never pays for one twice."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from brido.endpoint.answers import Answer, AskedModel, Question
from brido.endpoint.budget import Budget, Report
from brido.endpoint.plan import Plan, Prompt
from brido.endpoint.settings import EndpointRuntime
from brido.endpoint.store import AnswerStore
from brido.utils.errors import BridoError
from brido.utils.progress import say

# Bytes of the disk set aside for every call in flight: a long answer.
_ROOM_OF_A_CALL = 128 * 1024


class DryRun(BridoError):
    """What a run would take; raised instead of asking where `runtime.endpoint.dry_run` is set."""


class Client:
    """Asks one model on behalf of one section of params.yaml.

    >>> model = AskedModel("NAME", None, {"temperature": 1.0, "max_tokens": 64})
    >>> with Client("generation.big", model, store, runtime, answer_limit=64) as client:
    ...     plan = client.plan([(model, [{"role": "user", "content": text}])], samples=4)
    ...     client.ask(plan.questions())
    ...     answers = client.answers(plan.keys[0], 4)

    Answers are committed as they come, so a run may be killed at any moment and started again.
    Calls in flight at a kill are lost and asked again.
    """

    def __init__(
        self,
        section: str,
        model: AskedModel,
        store: Path,
        runtime: EndpointRuntime,
        answer_limit: int,
    ) -> None:
        """Open the store; nothing is asked yet.

        Errors name `section`. `answer_limit`: tokens of the longest answer, for the budget, which
        counts everything that the store holds of `model`, with any parameters.

        Raises:
            BridoError: the store cannot be used, or is not there and `runtime.replay` needs it.
        """
        self._section, self._model, self._runtime = section, model, runtime
        self._answer_limit = answer_limit
        self._is_alone = False
        self.report = Report()
        self.store = AnswerStore(store, must_exist=runtime.replay)
        self.budget = self._budget()

    def _budget(self) -> Budget:
        paid = self.store.usage(self._model)
        return Budget(self._runtime, self._section, self._answer_limit, paid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store, and say what was asked and what it took."""
        self.store.close()
        if self.report.calls:
            paid = self.budget.described(self.report.prompt_tokens, self.report.answer_tokens)
            say(f"{self._section}: {self.report}; now {paid}; in the store: {self.budget}")

    def plan(self, prompts: Sequence[Prompt], samples: int) -> Plan:
        """Return the questions of a run, and which of them lack answers; see `Plan`."""
        return Plan(prompts, samples, self.store)

    def ask(
        self,
        questions: Iterable[Question],
        advance: Callable[[int], None] = lambda count: None,
    ) -> None:
        """Ask `questions` and keep every answer; a question that gets none is left out.

        `advance` is called with the number of samples of every call that is done with.

        Raises:
            BridoError: nothing can be asked (key, model, a server that is silent for
                `patience_seconds`), or the budget is reached; what was answered is kept.
        """
        # The openai package takes a second to import, and a replay needs none.
        from brido.endpoint.asking import Asking, in_a_loop

        with self.alone(), self.store.reserve(self._runtime.max_concurrency * _ROOM_OF_A_CALL):
            asking = Asking(
                self._runtime, self._section, self.store, self.budget, self.report, advance
            )
            in_a_loop(asking.run(questions))

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other run ask this model for this store within the block; wait for one that does.

        So no run pays for what another one is asking, and both keep one budget. `ask` does this by
        itself; open it around questions that are drawn from a plan before they are asked.
        """
        if self._is_alone:
            yield
            return

        def waiting() -> None:
            say(f"{self._section}: another run asks {self._model.name}, waiting for its end")

        with self.store.lock(f"openai {self._model.name}", waiting):
            self.budget = self._budget()
            self._is_alone = True
            try:
                yield
            finally:
                self._is_alone = False

    def answers(self, key: str, samples: int) -> dict[int, Answer]:
        """What is kept for a question's key: answers by sample number, below `samples`."""
        return self.store.answers(key, samples)

    def forecast(self, plan: Plan, likely_answer: int) -> str:
        """Calls, tokens and cost of what `plan` lacks in words, for a dry run.

        `likely_answer`: how many tokens an answer is expected to have.
        """
        per_call = self._runtime.samples_per_call
        prompts = sum(
            self.budget.prompt_estimate(item.characters) * -(-item.answers // per_call)
            for item in plan.missing
        )
        likely = plan.answers * min(self._answer_limit, likely_answer)
        longest = plan.answers * self._answer_limit
        lines = [
            f"calls to make:  {plan.calls(per_call):,} for {plan.answers:,} answers "
            f"({plan.stored:,} more are in the store)",
            f"prompt tokens:  about {prompts:,}",
            f"answer tokens:  about {likely:,}, at most {longest:,}",
        ]
        if self.budget.priced:
            about = self.budget.cost(prompts, likely)
            most = self.budget.cost(prompts, longest)
            lines.append(f"cost:           about {about:.2f}, at most about {most:.2f}")
        else:
            lines.append(
                "cost:           set input_price and output_price (of a million tokens) to see it"
            )
        return "\n".join(lines)
