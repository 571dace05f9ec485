"""QAFactEval: the questions a summary answers, asked of its source.

summary -> answers -> questions -> answered on the summary -> filter -> answered on the source ->
overlap -> mean over the kept questions (Fabbri et al. 2022, as released; see docs/metrics.md).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import brido
from brido.evaluation.qafacteval.answering import Prediction, Reader
from brido.evaluation.qafacteval.answers import (
    Strategy,
    load_pipeline,
    pipeline_version,
    select_answers,
)
from brido.evaluation.qafacteval.lerc import LercQuip
from brido.evaluation.qafacteval.questions import QuestionGenerator
from brido.evaluation.qafacteval.records import GeneratedQuestion, summarise
from brido.evaluation.qafacteval.weights import find_models
from brido.utils.arguments import as_list, as_texts
from brido.utils.device import computing_device, memory_errors
from brido.utils.errors import ArgumentError
from brido.utils.extras import extra
from brido.utils.progress import MakeProgress, quiet
from brido.utils.store import ResultStore
from brido.work.shards import content_hash

SCORER = "lerc_quip"


@dataclass
class QAFactEval:
    """The metric with its models; make one with `load`.

    pipeline: of spaCy. generator, reader, scorer: a QuestionGenerator, a Reader and a LercQuip.
    answers: see `load`. fingerprints: of the models, by part. store: a ResultStore, in which
    nothing is computed twice.

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
    answers: Strategy
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
        device: str = "auto",
        batch_tokens: int = 16384,
        store: Path | None = None,
    ) -> "QAFactEval":
        """The metric, its models loaded.

        models: `hub` (the published archives, into the Hugging Face cache) or a folder with the
        archives or with converted models (see weights.py). answers: noun_chunks or ner.
        batch_tokens: tokens in one forward pass. store: the file that keeps every answer.

        Raises:
            BridoError: a model is missing or wrong; the message says what to fetch and where from.
        """
        with extra():
            pipeline = load_pipeline(spacy_model, answers)
        place = computing_device(device)
        folders = find_models(models)
        return cls(
            pipeline,
            QuestionGenerator(folders["questions"], place),
            Reader(folders["answering"], place),
            LercQuip(folders[SCORER], place),
            answers,
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
        sources, texts = _joined("documents", documents), _joined("summaries", summaries)
        if len(sources) != len(texts):
            raise ArgumentError(
                f"there are {len(sources)} documents and {len(texts)} summaries: give one "
                "summary for each document, in the same order"
            )
        questions = self._unasked(texts)
        with memory_errors(self.batch_tokens):
            marked = [question.marked() for question in questions]
            asked = self._results(questions, "question", marked, "questions", progress)
            for question, text in asked:
                question.text = text
            read = self._read(questions, texts, "answers on the summaries", progress)
            for question, found in read:
                question.on_summary = found
            kept = [question for question in questions if question.kept]
            read = self._read(kept, sources, "answers on the sources", progress)
            for question, found in read:
                question.on_source = found
            answered = [question for question in kept if question.answered]
            pairs = [question.comparison(sources[question.document]) for question in answered]
            compared = self._results(answered, SCORER, pairs, "overlap of answers", progress)
            for question, mark in compared:
                question.lerc = mark
        grouped: list[list[GeneratedQuestion]] = [[] for _ in texts]
        for question in questions:
            grouped[question.document].append(question)
        return [summarise(group) for group in grouped]

    def _unasked(self, texts: Sequence[str]) -> list[GeneratedQuestion]:
        """The answers of each text; their questions are not written yet."""
        distinct = list(dict.fromkeys(texts))
        selected = select_answers(self.pipeline, distinct, self.answers)
        answers = dict(zip(distinct, selected, strict=True))
        return [
            GeneratedQuestion(index, answer, text[answer.sentence_start : answer.sentence_end])
            for index, text in enumerate(texts)
            for answer in answers[text]
        ]

    def _read(
        self,
        questions: list[GeneratedQuestion],
        contexts: list[str],
        label: str,
        progress: MakeProgress,
    ) -> Iterator[tuple[GeneratedQuestion, Prediction]]:
        """Each question with the reader's answer to it on the context of its document."""
        pairs = [(question.text, contexts[question.document]) for question in questions]
        return self._results(questions, "answer", pairs, label, progress)

    def _results(
        self,
        questions: list[GeneratedQuestion],
        kind: str,
        items: Sequence[tuple],
        label: str,
        progress: MakeProgress,
    ) -> Iterator[tuple[GeneratedQuestion, Any]]:
        """Each question with what a model says of its item, from the store or computed.

        kind: under which the store keeps it.
        """
        parts: dict[str, tuple[str, QuestionGenerator | Reader | LercQuip]] = {
            "question": ("questions", self.generator),
            "answer": ("answering", self.reader),
            SCORER: (SCORER, self.scorer),
        }
        name, part = parts[kind]
        found = self.store.recall(
            kind,
            self.fingerprints[name],
            items,
            partial(part.run, batch_tokens=self.batch_tokens),
            lambda count: progress(f"qafacteval: {label}", count, "questions"),
        )
        return zip(questions, (found[item] for item in items), strict=True)

    def signature(self) -> dict[str, Any]:
        """What it takes to get these numbers again."""
        return {
            "implementation": f"brido {brido.__version__}: QAFactEval as released, ported",
            "answers": self.answers,
            "scorer": SCORER,
            **pipeline_version(self.pipeline),
            "models": self.fingerprints,
            "transformers": version("transformers"),
        }


def _joined(name: str, texts: Sequence[str | Sequence[str]]) -> list[str]:
    return [
        text if isinstance(text, str) else " ".join(as_texts(f"{name}[{index}]", text))
        for index, text in enumerate(as_list(name, texts, "a list of texts"))
    ]
