"""The judge as a plain object: documents and summaries in, a row of marks per document out."""

from collections.abc import Sequence
from itertools import cycle, zip_longest
from typing import Any, Literal

from brido import __version__
from brido.endpoint import AskedModel, CallPlan, Client, FormatRefused
from brido.endpoint.settings import EndpointRuntime, runtime_problems
from brido.evaluation import Evaluation
from brido.evaluation.geval.criteria import answer_schema
from brido.evaluation.geval.prompts import load_prompt
from brido.evaluation.geval.scoring import Account, same_marks, score_document
from brido.evaluation.geval.settings import GEvalSettings
from brido.utils.arguments import as_list, as_texts
from brido.utils.control_tokens import break_control_tokens
from brido.utils.errors import ArgumentError, BridoError, quoted
from brido.utils.paths import user_path
from brido.utils.progress import MakeProgress, quiet, say

SECTION = "evaluation.geval"
_KEY = f"{SECTION}.structured_output"
# How a judge is asked for JSON: with a schema, for any object, or in the prompt alone.
Structured = bool | Literal["json_object"]
_WAYS: dict[str, tuple[Structured, ...]] = {
    "auto": (True, "json_object", False),
    "always": (True,),
    "json_object": ("json_object",),
    "never": (False,),
}
# Fewer summaries may well all deserve the same marks.
_FEWEST_ALIKE = 5
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
            problems.append(f"{SECTION}.model: write the name of a model of the server")
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
            ArgumentError: one text or a table in place of a list, or lengths differ.
            BridoError: the server cannot be asked, the budget is reached, too many
                marks are missing, or (`DryRun`) nothing was to be asked.
        """
        documents, summaries = as_texts("documents", documents), as_texts("summaries", summaries)
        own = range(len(documents)) if names is None else names
        names = [str(name) for name in as_list("names", own, "a list of names, one a document")]
        if not len(documents) == len(summaries) == len(names):
            raise ArgumentError(
                f"geval: {len(documents)} documents, {len(summaries)} summaries, {len(names)} names"
            )
        store, limit = user_path(self.runtime.store), self.settings.answer_limit
        (model, *_) = self.judges(structured=False)
        with Client(SECTION, model, store, self.runtime, limit) as client:
            plans = self._plans(client, documents, summaries)
            structured = self._ask(client, plans, progress)
            return self._collect(client, plans[structured], structured, names)

    def judges(self, structured: Structured) -> tuple[AskedModel, ...]:
        """The model for each group of criteria, asked for JSON in this way."""
        judges = []
        for group in self.prompt.groups:
            parameters = self.settings.parameters
            if structured:
                free = structured == "json_object"
                parameters["response_format"] = (
                    {"type": "json_object"} if free else answer_schema(group)
                )
            judges.append(AskedModel(str(self.settings.model), self.settings.revision, parameters))
        return tuple(judges)

    def _plans(
        self, client: Client, documents: Sequence[str], summaries: Sequence[str]
    ) -> dict[Structured, CallPlan]:
        """What is asked, by the ways in which answers may be asked for, the strictest first."""
        groups, samples = self.prompt.groups, self.settings.answers
        questions = [
            [
                {
                    "role": "user",
                    "content": self.prompt.render(_text(document), _text(summary), group),
                }
            ]
            for document, summary in zip(documents, summaries, strict=True)
            for group in groups
        ]
        return {
            way: client.plan(list(zip(cycle(self.judges(way)), questions, strict=False)), samples)
            for way in _WAYS[self.settings.structured_output]
        }

    def _ask(
        self, client: Client, plans: dict[Structured, CallPlan], progress: MakeProgress
    ) -> Structured:
        """Ask in the way in which most of these questions were answered, and return the way.

        That is the strictest where the store has no answer. Where the server refuses it, the next
        one is taken.

        Raises:
            FormatRefused: there is no next one. Else as `Client.ask`.
        """
        ways = list(plans)
        ways = ways[ways.index(max(ways, key=lambda way: plans[way].stored)) :]
        for way, looser in zip_longest(ways, ways[1:]):
            try:
                client.ask(plans[way], progress, _LIKELY_ANSWER)
                break
            except FormatRefused as refused:
                if looser is None:
                    raise FormatRefused(f"{refused}: set {_KEY} to auto or never") from None
                key, how = ("json_object", "any JSON") if looser else ("never", "plain text")
                say(f"warning: {refused}: now {how} is asked for ({_KEY}: {key} does so at once)")
        return way

    def _collect(
        self, client: Client, plan: CallPlan, structured: Structured, names: Sequence[str]
    ) -> Evaluation:
        """The rows from what the store holds: the same however the answers got there."""
        account, samples = Account(), self.settings.answers
        rows, details, keys = [], [], iter(plan.keys)
        for name in names:
            groups = [(group, client.answers(next(keys), samples)) for group in self.prompt.groups]
            row, detail = score_document(name, groups, samples, account)
            rows.append(row)
            details.append(detail)
        (judge, *_) = self.judges(structured)
        way_out = client.report.way_out(SECTION, judge.parameters)
        account.check(self.settings.max_invalid_fraction, way_out)
        if len(rows) >= _FEWEST_ALIKE and (marks := same_marks(rows)):
            say(
                f"{SECTION}: all {len(rows):,} summaries got the same marks ({marks}). A judge "
                "that is too weak for the task marks without reading: look at its answers in the "
                "column `detail`, and try another model or structured_output: never"
            )
        return Evaluation(rows, details, self._signature(structured, account, len(rows)))

    def _signature(
        self, structured: Structured, account: Account, documents: int
    ) -> dict[str, Any]:
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


def _text(text: str) -> str:
    """A text as the judge gets it: what spells a control token of a chat template is text."""
    return break_control_tokens(text)[0]
