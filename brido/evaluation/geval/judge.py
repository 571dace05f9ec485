"""The judge as a plain object: documents and summaries in, a row of marks per document out."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from brido import __version__
from brido.config import user_path
from brido.errors import BridoError
from brido.evaluation import Evaluation
from brido.evaluation.geval.answers import Question
from brido.evaluation.geval.asking import Asker, Report
from brido.evaluation.geval.budget import Budget
from brido.evaluation.geval.endpoint import Endpoint
from brido.evaluation.geval.plan import Plan
from brido.evaluation.geval.scoring import Account, score_document
from brido.evaluation.geval.settings import GEvalSettings
from brido.evaluation.geval.setup import answer_limit, api_key, check, judges_of, samples_of
from brido.evaluation.geval.store import Store
from brido.progress import Progress, say
from brido.settings import JudgeRuntime

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
        progress: Callable[..., Progress] | None = None,
    ) -> Evaluation:
        """A row of marks per document (`scoring.COLUMNS`, None where missing), with details.

        coherence, consistency, relevance run from 1 to 5, fluency from 1 to 3; `average` is their
        raw mean (at most 4.5), `average_normalised` the mean after each scale is mapped to 0-1.
        `names` are what messages call the documents (default: their numbers). `progress(label,
        total, unit)` makes the progress bar (`brido.progress.Progress`).

        Raises:
            BridoError: lengths differ, the server cannot be asked, the budget is reached, too many
                marks are missing, or (`DryRun`) nothing was to be asked.
        """
        if len(documents) != len(summaries):
            raise BridoError(f"geval: {len(documents)} documents, {len(summaries)} summaries")
        names = names or [str(number) for number in range(len(documents))]
        with Store(user_path(self.runtime.store), must_exist=self.runtime.replay) as store:
            work = _Work(self, store, documents, summaries, progress)
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
        progress: Callable[..., Progress] | None,
    ) -> None:
        self.owner, self.store, self.progress = owner, store, progress
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
        report = Report()
        spent = Budget(self.runtime, 0)
        spent.count(0, -self.budget.prompt_tokens, -self.budget.answer_tokens)
        with self._progress() as advance:
            try:
                if self.owner.settings.backend == "transformers":
                    self._ask_local(report, advance)
                else:
                    _in_a_loop(self._ask_endpoint(report, advance))
            finally:
                spent.count(0, self.budget.prompt_tokens, self.budget.answer_tokens)
                say(f"geval: {report}; now {spent}; this model in the store: {self.budget}")
        return self.plan

    @contextlib.contextmanager
    def _progress(self) -> Iterator[Callable[[int], None]]:
        """A function to be called with the number of answers that a call was to bring."""
        if self.progress is None:
            yield lambda count: None
            return
        with self.progress("asking the judge", self.plan.answers, "answers") as bar:
            yield bar.advance

    async def _ask_endpoint(self, report: Report, advance: Callable[[int], None]) -> None:
        endpoint = Endpoint(self.runtime, api_key(self.runtime))
        ask = partial(Asker, endpoint, self.store, self.runtime, self.budget, report)
        try:
            if self.structured is None:
                self.plan = self._plan(await self._takes_schema(ask, report))
                advance(1)
            await ask(advance).run(self.plan.questions())
        finally:
            await endpoint.close()

    async def _takes_schema(self, ask: Callable[[], Asker], report: Report) -> bool:
        """Whether the server answers when a JSON schema is sent; remembered in the store."""
        for question in islice(self.plan.questions(), _PROBES):
            one = replace(question, samples=question.samples[:1])
            for structured, asked in ((True, one), (False, _without_schema(one))):
                await ask().run([asked])
                if report.answers:
                    self.store.set_ability(asked.judge, _STRUCTURED, structured)
                    return structured
        raise BridoError(
            f"the judge's server answered none of the first questions ({report}): a parameter of "
            "evaluation.geval may be one that it does not take (null leaves it out); "
            "runtime.judge.show_content: true shows the server's own words"
        )

    def _ask_local(self, report: Report, advance: Callable[[int], None]) -> None:
        from brido.evaluation.geval.local import LocalJudge

        judge = LocalJudge(self.plan.judges[0], self.owner.device)
        size = self.runtime.batch_size
        judge.ask_all(self.plan, size, self.store, self.budget, report, advance)


def _without_schema(question: Question) -> Question:
    judge = question.judge
    parameters = {
        name: value for name, value in judge.parameters.items() if name != "response_format"
    }
    plain = replace(judge, parameters=parameters)
    return replace(question, judge=plain, key=plain.key(question.messages))


def _in_a_loop(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, in a notebook too, where this thread has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(coroutine)
        return
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, coroutine).result()
