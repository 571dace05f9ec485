"""Candidates from an OpenAI-compatible server, which is asked once and paid once.

Everything that is missing is asked for before the first shard is made, so calls stay in flight from
the first document to the last; answers are committed as they come, and shards are made of what the
store holds. A run that is killed asks again for calls in flight alone.
"""

import math
from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from brido.candidates.cleaning import clean
from brido.candidates.documents import DocumentPart, SplitDocuments
from brido.candidates.settings import AskedSettings
from brido.endpoint import AskedModel, Client
from brido.endpoint.settings import EndpointRuntime, runtime_problems
from brido.models.chats import messages
from brido.models.settings import ReadingSettings
from brido.text.control_tokens import break_control_tokens
from brido.utils.errors import BridoError
from brido.utils.paths import user_path
from brido.utils.progress import Progress, say
from brido.work.worker import Advance, Result, unheard

# What a summary is expected to take in tokens, for a forecast.
_LIKELY_ANSWER = 80
# Documents read at once.
_PART = 200


class Asker(NamedTuple):
    """One source's or system's questions: who is asked, how, and on whose behalf; picklable.

    section: of params.yaml, which errors name. samples: answers to each question.
    """

    section: str
    settings: AskedSettings
    samples: int
    reading: ReadingSettings
    runtime: EndpointRuntime

    @property
    def model(self) -> AskedModel:
        """Who is asked, with every field of a request that decides an answer."""
        return AskedModel(self.settings.model, self.settings.revision, self.settings.sent)

    def client(self) -> Client:
        """Open the store, and return a client for this source."""
        return Client(self.section, self.model, user_path(self.runtime.store), self.runtime)

    def ask(self, documents: Iterable[SplitDocuments], interval: float) -> None:
        """Ask for every answer that the store lacks about all documents; see `ask_about`."""
        parts = (part for split in documents for part in split.parts(_PART))
        self.ask_about((text for part in parts for _, text in part.read()), interval)

    def ask_about(self, documents: Iterable[str], interval: float) -> None:
        """Ask for every answer that the store lacks.

        Raises:
            BridoError: the settings contradict each other, the server cannot be asked, the budget
                is reached, answers are missing beyond `max_missing_fraction`, or (`DryRun`) nothing
                was to be asked. What was answered is kept.
        """
        if problems := runtime_problems(self.runtime):
            raise BridoError.from_problems(f"{self.section} cannot start:", problems)
        texts = [break_control_tokens(text) for text in documents]
        if spelling := sum(count > 0 for _, count in texts):
            say(
                f"{self.section}: {spelling:,} documents spell control tokens of chat templates "
                "(such as <|im_end|>); they are sent with a space in each, so that they are text"
            )
        model = self.model
        prompts = [(model, messages(self.reading, text)) for text, _ in texts]
        with self.client() as client:
            plan = client.plan(prompts, self.samples)
            client.ask(plan, partial(Progress, interval=interval), _LIKELY_ANSWER)
            wanted = len(plan.keys) * self.samples
            missing = wanted - sum(len(client.answers(key, self.samples)) for key in plan.keys)
        if missing > self.settings.max_missing_fraction * wanted:
            trouble = ", ".join(client.report.given_up) or "they are not in the store"
            way_out = client.report.way_out(self.section, self.settings.sent)
            raise BridoError(
                f"{self.section}: {missing:,} of {wanted:,} candidates are missing ({trouble}). "
                f"{way_out}. To go on without them, raise {self.section}.max_missing_fraction"
            )


class AnswerWorker:
    """Makes rows of what the store holds; see `brido.work.worker.MakeWorker`.

    An answer has not ended if it was cut at the limit, stopped by a filter or did not come, or if
    the reason of its end is unknown.
    """

    def __init__(self, asker: Asker, device: str = "", advance: Advance = unheard) -> None:
        self._asker, self._client = asker, asker.client()

    def __call__(self, part: DocumentPart) -> Result:
        """Return a row of the candidates table for each document, and how its answers ended."""
        return self.rows(part.read())

    def rows(
        self, documents: Iterable[tuple[str, str]]
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The same of documents that are given, ids and texts."""
        size, model, rows = self._asker.samples, self._asker.model, []
        counts: Counter[str] = Counter()
        for name, document in documents:
            text, _ = break_control_tokens(document)
            key = model.key(messages(self._asker.reading, text))
            found = self._client.answers(key, size)
            answers = [found.get(sample) for sample in range(size)]
            ends = [answer.ending if answer else "missing" for answer in answers]
            counts.update(f"finish_reasons: {end}" for end in ends)
            counts.update(f"served_models: {one.served_model}" for one in answers if one)
            rows.append(
                {
                    "id": name,
                    "candidates": [answer.text if answer else "" for answer in answers],
                    "search_scores": [math.nan] * size,
                    "ended": [answer is not None and answer.ended for answer in answers],
                }
            )
        return rows, dict(counts)


class SummaryAnswers(AnswerWorker):
    """Makes rows of the decoded table: the answer about each document, cleaned as candidates are.

    No answer is an empty summary.
    """

    def __call__(self, part: DocumentPart) -> Result:
        """Return a row of the decoded table for each document."""
        found, counts = self.summaries(part.read())
        return [{"id": name, "summary": text, "score": 0.0} for name, text, _ in found], counts

    def summaries(
        self, documents: Iterable[tuple[str, str]]
    ) -> tuple[list[tuple[str, str, bool]], dict[str, Any]]:
        """Id, summary and whether it ended of each document, and how the answers ended."""
        rows, counts = self.rows(documents)
        found = [(row["id"], clean(row["candidates"][0]).text, row["ended"][0]) for row in rows]
        return found, counts
