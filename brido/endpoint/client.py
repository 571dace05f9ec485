"""The client: asks, keeps every answer, and never pays for one twice."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

from brido.endpoint.answers import Answer, AskedModel, Message, Question
from brido.endpoint.budget import Budget, Report
from brido.endpoint.settings import EndpointRuntime
from brido.endpoint.store import AnswerStore
from brido.utils.errors import BridoError
from brido.utils.progress import MakeProgress, quiet, say

Prompt = tuple[AskedModel, Sequence[Message]]
# The longest answer for the budget where a request does not say one.
_UNLIMITED = 4096


class DryRun(BridoError):
    """What a run would take; raised instead of asking where `runtime.endpoint.dry_run` is set."""


class CallPlan(NamedTuple):
    """The questions of a run, found out before anything is spent.

    `keys`: of all prompts, in their order. `missing`: the questions that lack an answer. `stored`:
    how many answers the store has.
    """

    keys: list[str]
    missing: list[Question]
    stored: int


class Client:
    """Asks one model on behalf of one section of params.yaml.

    >>> model = AskedModel("NAME", None, {"temperature": 1.0, "max_tokens": 64})
    >>> with Client("generation.big", model, store, runtime) as client:
    ...     plan = client.plan([(model, [{"role": "user", "content": text}])], samples=4)
    ...     client.ask(plan)
    ...     answers = client.answers(plan.keys[0], 4)

    Answers are committed as they come, so a run may be killed at any moment and started again.
    Calls in flight at a kill are lost and asked again.
    """

    def __init__(
        self, section: str, model: AskedModel, store: Path, runtime: EndpointRuntime
    ) -> None:
        """Open the store; nothing is asked yet.

        Errors name `section`. The budget counts everything that the store holds of `model`, with
        any parameters.

        Raises:
            BridoError: the store cannot be used, or is not there and `runtime.replay` needs it.
        """
        self.section, self._model, self.runtime = section, model, runtime
        self._answer_limit = model.answer_limit or _UNLIMITED
        self.report = Report(runtime.section, runtime.replay)
        if runtime.replay and not store.is_file():
            raise BridoError(
                f"{section}: {store} is no store of answers, and a replay reads one: set "
                f"{runtime.section}.replay to false, or name another store"
            )
        self.store = AnswerStore(store)
        self.budget = Budget(runtime, self._answer_limit, self.store.usage(model))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store, and say what was asked and what it took."""
        self.store.close()
        if self.report.calls:
            paid = self.budget.described(self.report.prompt_tokens, self.report.answer_tokens)
            say(f"{self.section}: {self.report}; now {paid}; in the store: {self.budget}")

    def plan(self, prompts: Sequence[Prompt], samples: int) -> CallPlan:
        """Each of `prompts` is to have `samples` answers; equal prompts are one question."""
        keys = [model.key(messages) for model, messages in prompts]
        distinct = dict(zip(keys, prompts, strict=True))
        missing = [
            Question(model, key, messages, sample)
            for key, (model, messages) in distinct.items()
            for sample in sorted(set(range(samples)) - self.store.samples(key))
        ]
        return CallPlan(keys, missing, len(distinct) * samples - len(missing))

    def ask(self, plan: CallPlan, progress: MakeProgress = quiet, likely_answer: int = 0) -> None:
        """Ask what `plan` lacks and keep every answer; a question that gets none is left out.

        No other run asks this model for this store meanwhile: so none pays for what another one
        asks, and both keep one budget. Where runtime says `replay`, nothing is asked.
        `likely_answer`: how many tokens an answer is expected to have, for a dry run.

        Raises:
            DryRun: runtime says `dry_run`; the error says what asking would take.
            BridoError: nothing can be asked (key, model, a server that is silent for
                `patience_seconds`), or the budget is reached; what was answered is kept.
        """
        if self.runtime.dry_run:
            raise DryRun(self._forecast(plan, likely_answer))
        if self.runtime.replay or not plan.missing:
            return
        # The openai package takes a second to import, and a replay needs none.
        from brido.endpoint.asking import Asking

        name = self._model.name
        shown = progress(f"ask {name}", len(plan.missing), "answers")
        why = f"{self.section}: another run is asking {name}"
        with self.store.lock(f"openai {name}", why), shown as bar:
            # Another run may have paid for some of them meanwhile.
            self.budget = Budget(self.runtime, self._answer_limit, self.store.usage(self._model))
            missing = [one for one in plan.missing if one.sample not in self.store.samples(one.key)]
            how = (self.runtime, self.section, self.store, self.budget, self.report, bar.advance)
            Asking(*how, plan.stored).run(missing)

    def answers(self, key: str, samples: int) -> dict[int, Answer]:
        """What is kept for a question's key: answers by sample number, below `samples`."""
        return self.store.answers(key, samples)

    def _forecast(self, plan: CallPlan, likely_answer: int) -> str:
        """Calls, tokens and cost of what `plan` lacks in words."""
        count = len(plan.missing)
        prompts = sum(self.budget.prompt_estimate(one.characters) for one in plan.missing)
        likely = count * min(self._answer_limit, likely_answer)
        longest = count * self._answer_limit
        cost = "set input_price and output_price (of a million tokens) to see it"
        if self.budget.priced:
            about, most = (self.budget.cost(prompts, answers) for answers in (likely, longest))
            cost = f"about {about:.2f}, at most about {most:.2f}"
        return (
            f"calls to make:  {count:,} ({plan.stored:,} more answers are in the store)\n"
            f"prompt tokens:  about {prompts:,}\n"
            f"answer tokens:  about {likely:,}, at most {longest:,}\n"
            f"cost:           {cost}"
        )
