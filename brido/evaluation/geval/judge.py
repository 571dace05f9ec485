"""The judge as a plain object: documents and summaries in, a row of marks per document out."""

from collections.abc import Sequence
from itertools import cycle

from brido import __version__
from brido.endpoint import AskedModel, CallPlan, Client, FormatRefused
from brido.endpoint.settings import EndpointRuntime, runtime_problems
from brido.evaluation import Evaluation
from brido.evaluation.geval.criteria import answer_schema
from brido.evaluation.geval.prompts import load_prompt
from brido.evaluation.geval.scoring import Account, score_document
from brido.evaluation.geval.settings import GEvalSettings
from brido.text.control_tokens import break_control_tokens
from brido.utils.arguments import as_texts
from brido.utils.errors import ArgumentError, BridoError
from brido.utils.paths import user_path
from brido.utils.progress import MakeProgress, quiet, say

SECTION = "evaluation.geval"
_KEY = f"{SECTION}.structured_output"
# How a judge is asked for JSON, the strictest way first, or in the prompt alone: the value of
# structured_output that asks in this way alone, and what it asks for.
_WAYS = {
    "schema": ("always", "a schema"),
    "json_object": ("json_object", "any JSON"),
    "text": ("never", "text"),
}
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
            BridoError: lists every problem of settings, prompt and environment. No value of a
                secret is shown.
        """
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
        `names` are what messages call the documents (default: their numbers).

        Raises:
            ArgumentError: one text or a table in place of a list, or lengths differ.
            BridoError: the server cannot be asked, the budget is reached, too many
                marks are missing, or (`DryRun`) nothing was to be asked.
        """
        documents, summaries = as_texts("documents", documents), as_texts("summaries", summaries)
        names = [str(name) for name in (range(len(documents)) if names is None else names)]
        if not len(documents) == len(summaries) == len(names):
            raise ArgumentError(
                f"geval: {len(documents)} documents, {len(summaries)} summaries, {len(names)} names"
            )
        (model, *_) = self.judges("text")
        with Client(SECTION, model, user_path(self.runtime.store), self.runtime) as client:
            plans = self._plans(client, documents, summaries)
            way = self._ask(client, plans, progress)
            return self._collect(client, plans[way], way, names)

    def judges(self, way: str) -> tuple[AskedModel, ...]:
        """The model for each group of criteria, asked for JSON in this way."""
        judges = []
        for group in self.prompt.groups:
            parameters = self.settings.sent
            if way == "schema":
                parameters["response_format"] = answer_schema(group)
            elif way == "json_object":
                parameters["response_format"] = {"type": "json_object"}
            judges.append(AskedModel(str(self.settings.model), self.settings.revision, parameters))
        return tuple(judges)

    def _plans(
        self, client: Client, documents: Sequence[str], summaries: Sequence[str]
    ) -> dict[str, CallPlan]:
        """What is asked, by the ways in which answers may be asked for, the strictest first."""
        questions = []
        for document, summary in zip(documents, summaries, strict=True):
            for group in self.prompt.groups:
                # What spells a control token of a chat template is text.
                text = self.prompt.render(
                    break_control_tokens(document)[0], break_control_tokens(summary)[0], group
                )
                questions.append([{"role": "user", "content": text}])
        return {
            way: client.plan(
                list(zip(cycle(self.judges(way)), questions, strict=False)), self.settings.samples
            )
            for way, (alone, _) in _WAYS.items()
            if self.settings.structured_output in ("auto", alone)
        }

    def _ask(self, client: Client, plans: dict[str, CallPlan], progress: MakeProgress) -> str:
        """Ask in the way in which most of these questions were answered, and return the way.

        That is the strictest where the store has no answer. Where the server refuses it, the next
        one is taken.

        Raises:
            FormatRefused: there is no next one. Else as `Client.ask`.
        """
        ways = list(plans)
        ways = ways[ways.index(max(ways, key=lambda way: plans[way].stored)) :]
        while True:
            way, *ways = ways
            try:
                client.ask(plans[way], progress, _LIKELY_ANSWER)
                return way
            except FormatRefused as refused:
                if not ways:
                    raise FormatRefused(f"{refused}: set {_KEY} to auto or never") from None
                key, how = _WAYS[ways[0]]
                say(f"warning: {refused}: now {how} is asked for ({_KEY}: {key} does so at once)")

    def _collect(
        self, client: Client, plan: CallPlan, way: str, names: Sequence[str]
    ) -> Evaluation:
        """The rows from what the store holds: the same however the answers got there."""
        account, samples = Account(), self.settings.samples
        rows, details, keys = [], [], iter(plan.keys)
        for name in names:
            groups = [(group, client.answers(next(keys), samples)) for group in self.prompt.groups]
            row, detail = score_document(name, groups, samples, account)
            rows.append(row)
            details.append(detail)
        (judge, *_) = self.judges(way)
        way_out = client.report.way_out(SECTION, judge.parameters)
        account.check(self.settings.max_invalid_fraction, way_out)
        signature = {
            "metric": "geval",
            "implementation": f"brido {__version__}",
            "model": self.settings.model,
            "revision": self.settings.revision,
            "prompt": self.prompt.name,
            "prompt_hash": self.prompt.hash,
            "samples": samples,
            "structured_output": way,
            "parameters": self.settings.sent,
            "documents": len(rows),
            **account.signature(),
        }
        return Evaluation(rows, details, signature)
