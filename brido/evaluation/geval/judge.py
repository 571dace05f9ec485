"""The judge as a plain object: documents and summaries in, a row of marks per document out."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from brido import __version__
from brido.errors import BridoError
from brido.evaluation import Evaluation
from brido.evaluation.geval.answers import Question
from brido.evaluation.geval.asking import Asker, Report
from brido.evaluation.geval.budget import Budget
from brido.evaluation.geval.endpoint import Endpoint
from brido.evaluation.geval.plan import Plan
from brido.evaluation.geval.scoring import Account, score_document
from brido.evaluation.geval.setup import answer_limit, api_key, check, judges_of, samples_of
from brido.evaluation.geval.store import Store
from brido.progress import say
from brido.settings import GEvalSettings, JudgeRuntime

Wrap = Callable[..., Iterable[Any]]

_STRUCTURED = "json_schema"
# How many questions may show whether the server takes a schema, should it refuse the first ones.
_PROBES = 5


class DryRun(BridoError):
    """What the run would take; raised instead of marks when `runtime.judge.dry_run` is set."""


class GEval:
    """An LLM judge for summaries: G-Eval's four criteria.

    >>> judge = GEval(GEvalSettings(model="NAME"), JudgeRuntime(base_url="http://localhost:8000/v1"))
    >>> rows = judge.score(documents, summaries).rows

    Answers go to the store as they come, so `score` may be interrupted and called again.
    """

    def __init__(
        self, settings: GEvalSettings, runtime: JudgeRuntime | None = None, device: str = "auto"
    ) -> None:
        """Check the settings; nothing is opened, loaded or asked yet.

        Raises:
            BridoError: lists every problem of settings, prompt and environment.
        """
        self.settings, self.runtime, self.device = settings, runtime or JudgeRuntime(), device
        self.prompt = check(settings, self.runtime)
        self.samples = samples_of(settings)

    def score(
        self,
        documents: Sequence[str],
        summaries: Sequence[str],
        names: Sequence[str] | None = None,
        progress: Wrap | None = None,
    ) -> Evaluation:
        """A row of marks per document (`scoring.COLUMNS`, None where missing), with details.

        coherence, consistency, relevance run from 1 to 5, fluency from 1 to 3; `average` is their
        raw mean (at most 4.5), `average_normalised` the mean after each scale is mapped to 0-1.
        `names` are what messages call the documents (default: their numbers). `progress` wraps the
        iterable of questions.

        Raises:
            BridoError: lengths differ, the server cannot be asked, the budget is reached, too many
                marks are missing, or (`DryRun`) nothing was to be asked.
        """
        if len(documents) != len(summaries):
            raise BridoError(f"geval: {len(documents)} documents, {len(summaries)} summaries")
        names = names or [str(number) for number in range(len(documents))]
        with Store(Path(self.runtime.store), must_exist=self.runtime.replay) as store:
            work = _Work(self, store, documents, summaries, progress or _unwrapped)
            plan = work.plan
            if self.runtime.dry_run:
                raise DryRun(plan.forecast(work.budget, self.runtime.samples_per_call,
                                           answer_limit(self.settings)))  # fmt: skip
            if plan.missing and not self.runtime.replay:
                plan = work.ask()
            return self._collect(store, plan, names)

    def _collect(self, store: Store, plan: Plan, names: Sequence[str]) -> Evaluation:
        """The rows from what the store holds: the same however the answers got there."""
        account = Account()
        weighted = self.settings.score_mode == "probability"
        rows, details = [], []
        for name, keys in zip(names, plan.keys, strict=True):
            answers = [store.answers(key, self.samples) for key in keys]
            groups = list(zip(self.prompt.groups, answers, strict=True))
            row, detail = score_document(name, groups, self.samples, weighted, account)
            rows.append(row)
            details.append(detail)
        account.check(self.settings.max_invalid_fraction)
        return Evaluation(rows, details, self._signature(plan, account, len(rows)))

    def _signature(self, plan: Plan, account: Account, documents: int) -> dict[str, Any]:
        """Everything that is needed to get the same marks again, and what they took."""
        parameters = {
            name: value
            for name, value in plan.judges[0].parameters.items()
            if name != "response_format"
        }
        return {
            "metric": "geval",
            "implementation": f"brido {__version__}",
            "backend": self.settings.backend,
            "model": self.settings.model,
            "revision": self.settings.revision,
            "served_models": dict(sorted(account.served_models.items())),
            "prompt": self.prompt.name,
            "prompt_hash": self.prompt.hash,
            "score_mode": self.settings.score_mode,
            "samples": self.samples,
            "structured_output": "response_format" in plan.judges[0].parameters,
            "parameters": parameters,
            "documents": documents,
            "marks": account.marks,
            "missing_marks": dict(sorted(account.missing.items())),
            "answers": account.answers,
            "prompt_tokens": account.prompt_tokens,
            "answer_tokens": account.answer_tokens,
        }


class _Work:
    """One call of `score`: plans, and asks what the plan lacks."""

    def __init__(
        self,
        owner: GEval,
        store: Store,
        documents: Sequence[str],
        summaries: Sequence[str],
        wrap: Wrap,
    ) -> None:
        self.owner, self.store, self.wrap = owner, store, wrap
        self.documents, self.summaries = documents, summaries
        self.runtime = owner.runtime
        self.structured = self._structured()
        self.plan = self._plan(self.structured is not False)
        self.budget = Budget(self.runtime, answer_limit(owner.settings))
        self.budget.count(*store.usage(self.plan.judges[0]))

    def _structured(self) -> bool | None:
        """Whether answers follow a JSON schema; None where the server was never asked for one."""
        settings = self.owner.settings
        if settings.backend == "transformers" or settings.structured_output == "never":
            return False
        if settings.structured_output == "always":
            return True
        return self.store.ability(judges_of(settings, self.owner.prompt, True)[0], _STRUCTURED)

    def _plan(self, structured: bool) -> Plan:
        judges = judges_of(self.owner.settings, self.owner.prompt, structured)
        return Plan(
            self.owner.prompt,
            judges,
            self.documents,
            self.summaries,
            self.owner.samples,
            self.store,
        )

    def ask(self) -> Plan:
        """Ask everything that is missing; returns the plan whose keys the answers have."""
        before = (self.budget.prompt_tokens, self.budget.answer_tokens)
        if self.owner.settings.backend == "transformers":
            report = self._ask_local()
        else:
            report = _in_a_loop(self._ask_endpoint())
        spent = Budget(self.runtime, 0)
        spent.count(0, self.budget.prompt_tokens - before[0], self.budget.answer_tokens - before[1])
        say(f"geval: {report}; this run: {spent}; all of this model in the store: {self.budget}")
        return self.plan

    async def _ask_endpoint(self) -> Report:
        endpoint = Endpoint(self.runtime, api_key(self.runtime))
        try:
            if self.structured is None:
                self.plan = self._plan(await self._takes_schema(endpoint))
            asker = Asker(endpoint, self.store, self.runtime, self.budget)
            return await asker.run(self._questions())
        finally:
            await endpoint.close()

    async def _takes_schema(self, endpoint: Endpoint) -> bool:
        """Whether the server answers when a JSON schema is sent; remembered in the store."""
        for question in islice(self.plan.questions(), _PROBES):
            for structured in (True, False):
                one = replace(question, samples=question.samples[:1])
                if not structured:
                    one = _without_schema(one)
                asker = Asker(endpoint, self.store, self.runtime, self.budget)
                if (await asker.run([one])).answers:
                    self.store.set_ability(one.judge, _STRUCTURED, structured)
                    return structured
        raise BridoError(
            f"the judge's server answered none of the first questions ({asker.report}): a "
            "parameter of evaluation.geval may be one that it does not take (null leaves it out); "
            "runtime.judge.show_content: true shows the server's own words"
        )

    def _ask_local(self) -> Report:
        from brido.evaluation.geval.local import LocalJudge, ask_all

        judge = LocalJudge(self.plan.judges[0], self.owner.device)
        return ask_all(judge, self._questions(), self.runtime.batch_size, self.store, self.budget)

    def _questions(self) -> Iterable[Question]:
        return self.wrap(
            self.plan.questions(), total=len(self.plan.missing), description="asking the judge"
        )


def _without_schema(question: Question) -> Question:
    judge = question.judge
    parameters = {
        name: value for name, value in judge.parameters.items() if name != "response_format"
    }
    plain = replace(judge, parameters=parameters)
    return replace(question, judge=plain, key=plain.key(question.messages))


def _unwrapped(questions: Iterable[Any], **_: Any) -> Iterable[Any]:
    return questions


def _in_a_loop(coroutine: Coroutine[Any, Any, Report]) -> Report:
    """Run a coroutine to its end, in a notebook too, where this thread has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
