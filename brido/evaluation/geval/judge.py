"""The judge as a plain object: documents and summaries in, a row of marks per document out."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from brido import __version__
from brido.endpoint import AskedModel, Client, DryRun, Plan, Question
from brido.endpoint.plan import Prompt
from brido.endpoint.settings import EndpointRuntime, runtime_problems
from brido.evaluation import Evaluation
from brido.evaluation.geval.criteria import answer_schema
from brido.evaluation.geval.prompts import Prompt as GEvalPrompt
from brido.evaluation.geval.prompts import load_prompt
from brido.evaluation.geval.scoring import Account, score_document
from brido.evaluation.geval.settings import GEvalSettings
from brido.utils.arguments import as_texts
from brido.utils.errors import ArgumentError, BridoError, quoted
from brido.utils.paths import user_path
from brido.utils.progress import MakeProgress, quiet

SECTION = "evaluation.geval"
# How many questions may show whether the server takes a schema, should it refuse the first ones.
_PROBES = 5
# Answers are a short form: what one is expected to take in tokens.
_LIKELY_ANSWER = 40


class GEval:
    """An LLM judge for summaries: G-Eval's four criteria.

    Answers go to the store as they come, so `score` may be interrupted and called again.

    Example:
        >>> runtime = EndpointRuntime(base_url="http://localhost:8000/v1")
        >>> judge = GEval(GEvalSettings(model="NAME"), runtime)
        >>> (row,) = judge.score(["Ann met Bob in Leeds."], ["Ann met Bob."]).rows
        >>> list(row)[:4]  # 1 to 5, fluency 1 to 3
        ['coherence', 'consistency', 'fluency', 'relevance']
    """

    def __init__(self, settings: GEvalSettings, runtime: EndpointRuntime | None = None) -> None:
        """Check the settings; nothing is opened or asked yet.

        Raises:
            ArgumentError: an argument is something else than settings.
            BridoError: lists every problem of settings, prompt and environment. No value of a
                secret is shown.
        """
        wanted: Any = ((settings, GEvalSettings), (runtime, EndpointRuntime | None))
        for given, kind in wanted:
            if not isinstance(given, kind):
                raise ArgumentError(
                    "geval: write GEval(GEvalSettings(model='NAME'), EndpointRuntime()), with "
                    f"settings in place of {quoted(given)}"
                )
        self.settings, self.runtime = settings, runtime or EndpointRuntime()
        problems = runtime_problems(self.runtime)
        if not settings.model:
            problems.append(f"{SECTION}.model: name the judge (a model's name at the endpoint)")
        try:
            self.prompt = load_prompt(settings.prompt)
        except BridoError as error:
            problems.append(str(error))
        if problems:
            raise BridoError.from_problems("geval cannot start:", problems)

    def score(
        self,
        documents: Sequence[str],
        summaries: Sequence[str],
        names: Sequence[str] | None = None,
        progress: MakeProgress = quiet,
    ) -> Evaluation:
        """A row of marks per document (`METRIC.columns`, None where missing), with details.

        coherence, consistency, relevance run from 1 to 5, fluency from 1 to 3; `average` is their
        raw mean (at most 4.5), `average_normalised` the mean after each scale is mapped to 0-1.
        `names` are what messages call the documents (default: their numbers). `progress(label,
        total, unit)` makes the progress bar (`brido.utils.progress.Progress`).

        Raises:
            ArgumentError: one text in place of a list, or lengths differ.
            BridoError: the server cannot be asked, the budget is reached, too many
                marks are missing, or (`DryRun`) nothing was to be asked.
        """
        documents, summaries = as_texts("documents", documents), as_texts("summaries", summaries)
        if len(documents) != len(summaries):
            raise ArgumentError(f"geval: {len(documents)} documents, {len(summaries)} summaries")
        names = names or [str(number) for number in range(len(documents))]
        store, limit = user_path(self.runtime.store), self.settings.answer_limit
        (model, *_) = self.judges(structured=False)
        with Client(SECTION, model, store, self.runtime, limit) as client:
            run = _Run(self, client, documents, summaries)
            if self.runtime.dry_run:
                raise DryRun(client.forecast(run.plan, _LIKELY_ANSWER))
            if run.plan.missing and not self.runtime.replay:
                run.ask(progress)
            return self._collect(client, run, names)

    def judges(self, structured: bool) -> tuple[AskedModel, ...]:
        """The model for each group of criteria, with or without a JSON schema."""
        judges = []
        for group in self.prompt.groups:
            parameters = self.settings.parameters
            if structured:
                parameters["response_format"] = answer_schema(group)
            judges.append(AskedModel(str(self.settings.model), self.settings.revision, parameters))
        return tuple(judges)

    def _collect(self, client: Client, run: "_Run", names: Sequence[str]) -> Evaluation:
        """The rows from what the store holds: the same however the answers got there."""
        account, samples = Account(), self.settings.answers
        rows, details = [], []
        for name, keys in zip(names, run.keys(), strict=True):
            answers = [client.answers(key, samples) for key in keys]
            groups = list(zip(self.prompt.groups, answers, strict=True))
            row, detail = score_document(name, groups, samples, account)
            rows.append(row)
            details.append(detail)
        account.check(self.settings.max_invalid_fraction)
        return Evaluation(rows, details, self._signature(run.structured, account, len(rows)))

    def _signature(self, structured: bool, account: Account, documents: int) -> dict[str, Any]:
        """Everything that is needed to get the same marks again, and what they took."""
        return {
            "metric": "geval",
            "implementation": f"brido {__version__}",
            "model": self.settings.model,
            "revision": self.settings.revision,
            "served_models": dict(sorted(account.served_models.items())),
            "prompt": self.prompt.name,
            "prompt_hash": self.prompt.hash,
            "score_mode": self.settings.score_mode,
            "samples": self.settings.answers,
            "structured_output": structured,
            "parameters": self.settings.parameters,
            "documents": documents,
            "marks": account.marks,
            "missing_marks": dict(sorted(account.missing.items())),
            "answers": account.answers,
            "prompt_tokens": account.prompt_tokens,
            "answer_tokens": account.answer_tokens,
        }


class _Prompts(Sequence[Prompt]):
    """A prompt for every document and group of criteria, rendered when it is taken."""

    def __init__(
        self,
        prompt: GEvalPrompt,
        judges: Sequence[AskedModel],
        documents: Sequence[str],
        summaries: Sequence[str],
    ) -> None:
        self._prompt, self._judges = prompt, judges
        self._documents, self._summaries = documents, summaries

    def __len__(self) -> int:
        return len(self._documents) * len(self._judges)

    def __getitem__(self, index: int) -> Prompt:  # type: ignore[override]
        document, group = divmod(index, len(self._judges))
        text = self._prompt.render(
            self._documents[document], self._summaries[document], self._prompt.groups[group]
        )
        return self._judges[group], [{"role": "user", "content": text}]


class _Run:
    """One call of `score`: plans, and asks what the plan lacks.

    `structured`: whether answers are asked for with a JSON schema. With structured_output auto the
    store says so: the way in which more of these questions were answered. Where it holds none of
    them, the server is tried.
    """

    def __init__(
        self, owner: GEval, client: Client, documents: Sequence[str], summaries: Sequence[str]
    ) -> None:
        self._owner, self._client = owner, client
        self._documents, self._summaries = documents, summaries
        self._choose()

    def _choose(self) -> None:
        """Plan with or without a schema; `_is_open` where the store does not tell."""
        wanted = self._owner.settings.structured_output
        ways = [way for way, out in ((True, "never"), (False, "always")) if wanted != out]
        plans = {way: self._plan(way) for way in ways}
        self.structured = max(plans, key=lambda way: plans[way].stored)
        self.plan = plans[self.structured]
        self._is_open = wanted == "auto" and not self.plan.stored

    def _plan(self, structured: bool) -> Plan:
        judges = self._owner.judges(structured)
        prompts = _Prompts(self._owner.prompt, judges, self._documents, self._summaries)
        return self._client.plan(prompts, self._owner.settings.answers)

    def keys(self) -> list[list[str]]:
        """For each document the key of each group's question."""
        keys, size = self.plan.keys, len(self._owner.prompt.groups)
        return [keys[first : first + size] for first in range(0, len(keys), size)]

    def ask(self, progress: MakeProgress) -> None:
        """Ask everything that is missing; the plan's keys are then those that the answers have."""
        shown = progress("asking the judge", self.plan.answers, "answers")
        with self._client.alone(), shown as bar:
            if self._is_open:
                self._choose()  # another run may have asked meanwhile
            if self._is_open:
                self._try_schema()
                bar.advance(1)
            self._client.ask(self.plan.questions(), bar.advance)

    def _try_schema(self) -> None:
        """Ask one question with a JSON schema, and without one if it gets no answer."""
        plain = self._plan(False)
        for pair in islice(zip(self.plan.questions(), plain.questions(), strict=True), _PROBES):
            for question in pair:
                self._client.ask([_first_sample(question)])
                if self._client.report.answers:
                    self.structured = question is pair[0]
                    self.plan = self.plan if self.structured else plain
                    return
        raise BridoError(
            f"{SECTION}: the server answered none of the first questions ({self._client.report}): "
            f"a parameter of {SECTION} may be one that it does not take (null leaves it out); "
            "runtime.endpoint.show_content: true shows the server's own words"
        )


def _first_sample(question: Question) -> Question:
    return replace(question, samples=question.samples[:1])
