"""The judge as a plain object: documents and summaries in, a row of marks per document out."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from brido import __version__
from brido.endpoint import AskedModel, Client, DryRun, Question
from brido.endpoint.plan import Prompt
from brido.endpoint.settings import EndpointRuntime
from brido.evaluation import Evaluation
from brido.evaluation.geval.backends import SECTION
from brido.evaluation.geval.prompts import Prompt as GEvalPrompt
from brido.evaluation.geval.scoring import Account, score_document
from brido.evaluation.geval.settings import GEvalSettings
from brido.evaluation.geval.setup import answer_limit, check, judges_of, samples_of
from brido.utils.arguments import as_texts
from brido.utils.errors import ArgumentError, BridoError
from brido.utils.paths import user_path
from brido.utils.progress import MakeProgress, quiet

_STRUCTURED = "json_schema"
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

    def __init__(
        self, settings: GEvalSettings, runtime: EndpointRuntime | None = None, device: str = "auto"
    ) -> None:
        """Check the settings; nothing is opened, loaded or asked yet.

        Raises:
            BridoError: lists every problem of settings, prompt and environment.
        """
        self.settings, self.runtime = settings, runtime or EndpointRuntime()
        self.prompt, self.backend = check(settings, self.runtime, device)
        self.samples = samples_of(settings)

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
        with self._client() as client:
            run = _Run(self, client, documents, summaries)
            if self.runtime.dry_run:
                raise DryRun(client.forecast(run.plan, _LIKELY_ANSWER))
            if run.plan.missing and not self.runtime.replay:
                run.ask(progress)
            return self._collect(client, run, names)

    def _client(self) -> Client:
        model = self.judges(structured=False)[0]
        store = user_path(self.runtime.store)
        limit = answer_limit(self.settings)
        return Client(SECTION, model, store, self.runtime, limit, self.backend)

    def judges(self, structured: bool) -> tuple[AskedModel, ...]:
        """Who is asked for each group of criteria, with or without a JSON schema."""
        return judges_of(self.settings, self.prompt, self.backend, structured)

    def _collect(self, client: Client, run: "_Run", names: Sequence[str]) -> Evaluation:
        """The rows from what the store holds: the same however the answers got there."""
        account = Account()
        weighted = self.settings.score_mode == "probability"
        rows, details = [], []
        for name, keys in zip(names, run.keys(), strict=True):
            answers = [client.answers(key, self.samples) for key in keys]
            groups = list(zip(self.prompt.groups, answers, strict=True))
            row, detail = score_document(name, groups, self.samples, weighted, account)
            rows.append(row)
            details.append(detail)
        account.check(self.settings.max_invalid_fraction)
        return Evaluation(rows, details, self._signature(run.judges[0], account, len(rows)))

    def _signature(self, judge: AskedModel, account: Account, documents: int) -> dict[str, Any]:
        """Everything that is needed to get the same marks again, and what they took."""
        parameters = {
            name: value for name, value in judge.parameters.items() if name != "response_format"
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
            "structured_output": "response_format" in judge.parameters,
            "parameters": parameters,
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
    """One call of `score`: plans, and asks what the plan lacks."""

    def __init__(
        self, owner: GEval, client: Client, documents: Sequence[str], summaries: Sequence[str]
    ) -> None:
        self._owner, self._client = owner, client
        self._documents, self._summaries = documents, summaries
        self._structured = self._is_structured()
        self._make_plan(self._structured is not False)

    def _is_structured(self) -> bool | None:
        """Whether answers follow a JSON schema; None where the server was never asked for one."""
        wanted = self._owner.settings.structured_output
        if wanted == "never" or not self._owner.backend.takes_schema:
            return False
        if wanted == "always":
            return True
        return self._client.store.ability(self._owner.judges(True)[0], _STRUCTURED)

    def _make_plan(self, structured: bool) -> None:
        self.judges = self._owner.judges(structured)
        prompts = _Prompts(self._owner.prompt, self.judges, self._documents, self._summaries)
        self.plan = self._client.plan(prompts, self._owner.samples)

    def keys(self) -> list[list[str]]:
        """For each document the key of each group's question."""
        keys, size = self.plan.keys, len(self.judges)
        return [keys[first : first + size] for first in range(0, len(keys), size)]

    def ask(self, progress: MakeProgress) -> None:
        """Ask everything that is missing; the plan's keys are then those that the answers have."""
        shown = progress("asking the judge", self.plan.answers, "answers")
        with self._client.alone(), shown as bar:
            if self._structured is None:
                self._find_out()
                bar.advance(1)
            self._client.ask(self.plan.questions(), bar.advance)

    def _find_out(self) -> None:
        """Plan for what the server takes, which another run may have found out meanwhile."""
        known = self._is_structured()
        self._make_plan(self._takes_schema() if known is None else known)

    def _takes_schema(self) -> bool:
        """Whether the server answers when a JSON schema is sent; remembered in the store."""
        questions = list(islice(self.plan.questions(), _PROBES))
        if not questions:
            return True  # another run has asked them all meanwhile
        for question in questions:
            one = replace(question, samples=question.samples[:1])
            for structured, asked in ((True, one), (False, _without_schema(one))):
                self._client.ask([asked])
                if self._client.report.answers:
                    self._client.store.set_ability(asked.model, _STRUCTURED, structured)
                    return structured
        raise BridoError(
            f"{SECTION}: the server answered none of the first questions ({self._client.report}): "
            f"a parameter of {SECTION} may be one that it does not take (null leaves it out); "
            "runtime.endpoint.show_content: true shows the server's own words"
        )


def _without_schema(question: Question) -> Question:
    parameters = {
        name: value
        for name, value in question.model.parameters.items()
        if name != "response_format"
    }
    plain = replace(question.model, parameters=parameters)
    return replace(question, model=plain, key=plain.key(question.messages))
