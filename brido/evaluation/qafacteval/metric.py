"""QAFactEval: the questions a summary answers, asked of its source.

summary -> answers -> questions -> answered on the summary -> filter -> answered on the source ->
overlap -> mean over the kept questions (Fabbri et al. 2022, as released; see docs/metrics.md).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import brido
from brido.evaluation.qafacteval.answering import NOTHING, Prediction, Reader
from brido.evaluation.qafacteval.answers import (
    Strategy,
    load_pipeline,
    pipeline_version,
    select_answers,
)
from brido.evaluation.qafacteval.lerc import Comparison, LercQuip
from brido.evaluation.qafacteval.questions import MarkedSentence, QuestionGenerator
from brido.evaluation.qafacteval.records import GeneratedQuestion, as_pairs, summarise
from brido.evaluation.qafacteval.weights import find_models
from brido.utils.device import choose_device, memory_errors
from brido.utils.extras import extra
from brido.utils.progress import MakeProgress, quiet
from brido.utils.store import ResultStore
from brido.work.batches import plan_batches
from brido.work.shards import content_hash

# Finished batches of (index of the item, result), and what computes them of new items.
Batches = Iterator[list[tuple[int, Any]]]
Compute = Callable[[list[Any]], Batches]
SCORER = "lerc_quip"


@dataclass
class QAFactEval:
    """The metric with its models; make one with `load`.

    pipeline: of spaCy. generator, reader, scorer: a QuestionGenerator, a Reader and a LercQuip.
    settings: answers, scorer and faithful. fingerprints: of the models, by part. store: a
    ResultStore, in which nothing is computed twice.

    Example:
        >>> metric = QAFactEval.load(models="hub", spacy_model="en_core_web_sm")  # 4 GB, once
        >>> (row,) = metric.score(["Ann met Bob in Leeds."], ["Ann met Bob."])
        >>> sorted(set(row) - {"questions"})  # questions: what was asked, and both answers
        ['em', 'f1', 'is_answered', 'lerc', 'n_generated', 'n_questions', 'without_questions']
    """

    pipeline: Any
    generator: QuestionGenerator
    reader: Reader
    scorer: LercQuip
    settings: dict[str, Any]
    fingerprints: dict[str, str]
    store: ResultStore
    batch_tokens: int = 16384

    @classmethod
    def load(
        cls,
        models: str = "hub",
        spacy_model: str = "en_core_web_sm",
        answers: Strategy = "noun_chunks",
        *,
        faithful: bool = True,
        device: str = "auto",
        batch_tokens: int = 16384,
        store: Path | None = None,
    ) -> "QAFactEval":
        """The metric, its models loaded.

        models: `hub` (the published archives, into the Hugging Face cache) or a folder with the
        archives or with converted models (see weights.py). answers: noun_chunks or ner. faithful:
        the released code's decoder positions and window padding. batch_tokens: tokens in one
        forward pass. store: the file that keeps every answer.

        Raises:
            BridoError: a model is missing or wrong; the message says what to fetch and where from.
        """
        with extra():
            pipeline = load_pipeline(spacy_model, answers)
        place = choose_device(device)
        folders = find_models(models)
        return cls(
            pipeline,
            QuestionGenerator(folders["questions"], place, faithful),
            Reader(folders["answering"], place, faithful),
            LercQuip(folders[SCORER], place),
            {"answers": answers, "scorer": SCORER, "faithful": faithful},
            {part: content_hash(folder)[:16] for part, folder in folders.items()},
            ResultStore(store),
            batch_tokens,
        )

    def score(
        self,
        documents: Sequence[str | Sequence[str]],
        summaries: Sequence[str | Sequence[str]],
        progress: MakeProgress = quiet,
    ) -> list[dict[str, Any]]:
        """A row per document: lerc (0 to about 5), f1, em and is_answered (0 to 1).

        Also n_questions (kept ones), n_generated, without_questions (1 where nothing was kept: all
        scores are then 0.0, as released) and `questions`, each with its answers. A text given as a
        list of sentences is joined with one space.

        Raises:
            ArgumentError: not lists of texts, or not as many documents as summaries.
            BridoError: memory does not suffice.
        """
        sources, texts = as_pairs(documents, summaries)
        questions = self._select(texts)
        with memory_errors(self.batch_tokens):
            self._ask(questions, progress)
            found = self._answers(questions, texts, progress, "answers on the summaries")
            for question, prediction in zip(questions, found, strict=True):
                question.on_summary = prediction
            kept = [question for question in questions if question.kept]
            found = self._answers(kept, sources, progress, "answers on the sources")
            for question, prediction in zip(kept, found, strict=True):
                question.on_source = prediction
            self._compare([question for question in kept if question.answered], sources, progress)
        grouped: list[list[GeneratedQuestion]] = [[] for _ in texts]
        for question in questions:
            grouped[question.document].append(question)
        return [summarise(group) for group in grouped]

    def _select(self, texts: list[str]) -> list[GeneratedQuestion]:
        distinct = list(dict.fromkeys(texts))
        selected = select_answers(self.pipeline, distinct, self.settings["answers"])
        answers = dict(zip(distinct, selected, strict=True))
        return [
            GeneratedQuestion(index, answer, text[answer.sentence_start : answer.sentence_end])
            for index, text in enumerate(texts)
            for answer in answers[text]
        ]

    def _ask(self, questions: list[GeneratedQuestion], progress: MakeProgress) -> None:
        items = []
        for question in questions:
            answer, first = question.answer, question.answer.sentence_start
            places = answer.start - first, answer.end - first
            items.append(MarkedSentence(question.sentence, *places))
        compute = partial(_generated, self.generator, self.batch_tokens)
        model = self._with_quirks("questions")
        found = self._recall("question", model, items, compute, progress, "questions")
        for question, text in zip(questions, found, strict=True):
            question.text = text

    def _answers(
        self,
        questions: list[GeneratedQuestion],
        contexts: list[str],
        progress: MakeProgress,
        label: str,
    ) -> list[dict[str, Any]]:
        pairs = [(question.text, contexts[question.document]) for question in questions]
        compute = partial(_answered, self.reader, self.batch_tokens)
        model = self._with_quirks("answering")
        found = self._recall("answer", model, pairs, compute, progress, label)
        return [{name: one[name] for name in Prediction._fields} for one in found]

    def _compare(
        self, answered: list[GeneratedQuestion], sources: list[str], progress: MakeProgress
    ) -> None:
        items = []
        for question in answered:
            prediction = (question.on_source or {})["prediction"]
            source = sources[question.document]
            items.append(Comparison(question.text, question.answer.text, prediction, source))
        compute = partial(_compared, self.scorer, self.batch_tokens)
        model = self.fingerprints[SCORER]
        found = self._recall(SCORER, model, items, compute, progress, "overlap of answers")
        for question, score in zip(answered, found, strict=True):
            question.lerc = score

    def _recall(
        self,
        kind: str,
        model: str,
        items: Sequence[tuple],
        compute: Compute,
        progress: MakeProgress,
        label: str,
    ) -> list[Any]:
        """The result of each item, from the store or computed, with finished items counted."""
        counted = partial(_counted, compute, progress, label)
        found = self.store.recall(kind, model, items, counted)
        return [found[item] for item in items]

    def _with_quirks(self, part: str) -> str:
        """The store's name of a model that `faithful` changes."""
        return f"{self.fingerprints[part]}/faithful={self.settings['faithful']}"

    def signature(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """What it takes to get these numbers again, with the counts of documents and questions."""
        return {
            "implementation": f"brido {brido.__version__}: QAFactEval as released, ported",
            **self.settings,
            **pipeline_version(self.pipeline),
            "models": self.fingerprints,
            "transformers": version("transformers"),
            "n": len(rows),
            "n_questions": sum(row["n_questions"] for row in rows),
            "n_without_questions": sum(row["without_questions"] for row in rows),
        }


def _counted(compute: Compute, progress: MakeProgress, label: str, new: list[Any]) -> Batches:
    with progress(f"qafacteval: {label}", len(new), "questions") as display:
        for results in compute(new):
            yield results
            display.advance(len(results))


def _generated(generator: QuestionGenerator, batch_tokens: int, new: list[Any]) -> Batches:
    for group, encoded in generator.batches(new, batch_tokens):
        yield list(zip(group, generator.generate(encoded), strict=True))


def _answered(reader: Reader, batch_tokens: int, new: list[Any]) -> Batches:
    requests = reader.requests(new)
    empty = [index for index, request in enumerate(requests) if not request.windows]
    yield [(index, NOTHING._asdict()) for index in empty]
    for batch in reader.batches(requests, batch_tokens):
        done = reader.run(requests, batch)
        yield [(index, prediction._asdict()) for index, prediction in done]


def _compared(scorer: LercQuip, batch_tokens: int, new: list[Any]) -> Batches:
    encoded = [scorer.encode(item) for item in new]
    for group in plan_batches(list(map(len, encoded)), batch_tokens):
        scores = scorer.score([encoded[index] for index in group])
        yield list(zip(group, scores, strict=True))
