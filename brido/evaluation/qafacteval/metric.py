"""QAFactEval: the questions a summary answers, asked of its source.

summary -> answers -> questions -> answered on the summary -> filter -> answered on the source ->
overlap -> mean over the kept questions (Fabbri et al. 2022, as released; see docs/metrics.md).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import brido
from brido.evaluation.qafacteval.answers import load_pipeline, pipeline_version, select_answers
from brido.evaluation.qafacteval.records import Question, as_pairs, summarise
from brido.utils.errors import BridoError, quoted
from brido.utils.extras import extra
from brido.utils.progress import MakeProgress, quiet
from brido.utils.store import ResultStore

if TYPE_CHECKING:
    from spacy.language import Language

    from brido.evaluation.qafacteval.answering import Reader
    from brido.evaluation.qafacteval.lerc import Scorer
    from brido.evaluation.qafacteval.questions import QuestionGenerator

Batches = Iterator[list[tuple[int, Any]]]


@dataclass
class QAFactEval:
    """The metric with its models; make one with `load`.

    Example:
        >>> metric = QAFactEval.load(models="hub", spacy_model="en_core_web_sm")  # 4 GB, once
        >>> (row,) = metric.score(["Ann met Bob in Leeds."], ["Ann met Bob."])
        >>> sorted(set(row) - {"questions"})  # questions: what was asked, and both answers
        ['em', 'f1', 'is_answered', 'lerc', 'n_generated', 'n_questions', 'without_questions']
    """

    pipeline: "Language"
    generator: "QuestionGenerator"
    reader: "Reader"
    scorer: "Scorer"
    settings: dict[str, Any]
    fingerprints: dict[str, str]
    store: ResultStore
    batch_tokens: int = 16384

    @classmethod
    def load(
        cls,
        models: str = "hub",
        spacy_model: str = "en_core_web_sm",
        answers: str = "noun_chunks",
        scorer: str = "lerc_quip",
        faithful: bool = True,
        device: str = "auto",
        batch_tokens: int = 16384,
        store: Path | None = None,
    ) -> "QAFactEval":
        """The metric, its models loaded.

        models: `hub` (the published archives, into the Hugging Face cache) or a folder with the
        archives or with converted models (see weights.py). answers: noun_chunks, ner, max_np or
        all. scorer: lerc_quip or lerc. faithful: the released code's decoder positions and window
        padding. batch_tokens: tokens in one forward pass. store: the file that keeps every answer.

        Raises:
            BridoError: a model is missing or wrong; the message says what to fetch and where from.
        """
        with extra("qafacteval"):
            from brido.evaluation.qafacteval.answering import Reader
            from brido.evaluation.qafacteval.lerc import SCORERS
            from brido.evaluation.qafacteval.questions import QuestionGenerator
            from brido.evaluation.qafacteval.weights import find_models
            from brido.utils.device import choose_device
            from brido.work.shards import content_hash

        if scorer not in SCORERS:
            raise BridoError(f"scorer: {quoted(scorer)} is none of {', '.join(SCORERS)}")
        with extra("qafacteval"):
            pipeline = load_pipeline(spacy_model, answers)
        place = choose_device(device)
        folders = find_models(models, scorer)
        return cls(
            pipeline,
            QuestionGenerator(folders["questions"], place, faithful),
            Reader(folders["answering"], place, faithful),
            SCORERS[scorer](folders[scorer], place),
            {"answers": answers, "scorer": scorer, "faithful": faithful},
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
            ArgumentError: no lists of texts, or not as many documents as summaries.
            BridoError: memory does not suffice.
        """
        from brido.evaluation.qafacteval.batching import memory_errors

        sources, texts = as_pairs(documents, summaries)
        questions = self._select(texts)
        with memory_errors(self.batch_tokens):
            self._run(questions, sources, texts, progress)
        grouped: list[list[Question]] = [[] for _ in texts]
        for question in questions:
            grouped[question.document].append(question)
        return [summarise(group) for group in grouped]

    def _run(
        self,
        questions: list[Question],
        sources: list[str],
        texts: list[str],
        progress: MakeProgress,
    ) -> None:
        """Fill in what the models say of each question, batch by batch through the store."""
        self._ask(questions, progress)
        asked = [(question.text, texts[question.document]) for question in questions]
        found = self._answers(asked, progress, "answers on the summaries")
        for question, pair in zip(questions, asked, strict=True):
            question.on_summary = found[pair]
        kept = [question for question in questions if question.kept]
        asked = [(question.text, sources[question.document]) for question in kept]
        found = self._answers(asked, progress, "answers on the sources")
        for question, pair in zip(kept, asked, strict=True):
            question.on_source = found[pair]
        self._compare([question for question in kept if question.answered], sources, progress)

    def _select(self, texts: list[str]) -> list[Question]:
        distinct = list(dict.fromkeys(texts))
        selected = select_answers(self.pipeline, distinct, self.settings["answers"])
        answers = dict(zip(distinct, selected, strict=True))
        return [
            Question(index, answer, text[answer.sentence_start : answer.sentence_end])
            for index, text in enumerate(texts)
            for answer in answers[text]
        ]

    def _ask(self, questions: list[Question], progress: MakeProgress) -> None:
        from brido.evaluation.qafacteval.questions import MarkedSentence

        def generate(new: list[tuple]) -> Batches:
            batches = self.generator.batches([MarkedSentence(*i) for i in new], self.batch_tokens)
            for group, encoded in batches:
                yield list(zip(group, self.generator.generate(encoded), strict=True))

        items = []
        for question in questions:
            answer = question.answer
            span = (answer.start - answer.sentence_start, answer.end - answer.sentence_start)
            items.append((question.sentence, *span))
        counted = _counted(generate, progress, "questions")
        found = self.store.recall("question", self._model("questions"), items, counted)
        for question, item in zip(questions, items, strict=True):
            question.text = found[item]

    def _answers(
        self, pairs: list[tuple], progress: MakeProgress, label: str
    ) -> dict[tuple, dict[str, Any]]:
        """The reader's answer to every distinct (question, context)."""
        from brido.evaluation.qafacteval.answering import NOTHING

        def answer(new: list[tuple]) -> Batches:
            requests = self.reader.requests(new)
            empty = [index for index, request in enumerate(requests) if not request.windows]
            yield [(index, NOTHING.as_dict()) for index in empty]
            for batch in self.reader.batches(requests, self.batch_tokens):
                done = self.reader.run(requests, batch)
                yield [(index, prediction.as_dict()) for index, prediction in done]

        counted = _counted(answer, progress, label)
        return self.store.recall("answer", self._model("answering"), pairs, counted)

    def _compare(
        self, answered: list[Question], sources: list[str], progress: MakeProgress
    ) -> None:
        """Fill in LERC of the questions that the source answers."""
        from brido.evaluation.qafacteval.lerc import Comparison
        from brido.work.batches import plan_batches

        def compare(new: list[tuple]) -> Batches:
            encoded = [self.scorer.encode(Comparison(*item)) for item in new]
            lengths = [len(item.ids) for item in encoded]
            for group in plan_batches(lengths, self.batch_tokens):
                scores = self.scorer.score([encoded[index] for index in group])
                yield list(zip(group, scores, strict=True))

        items = [
            (
                question.text,
                question.answer.text,
                (question.on_source or {})["prediction"],
                sources[question.document],
            )
            for question in answered
        ]
        part = self.settings["scorer"]
        counted = _counted(compare, progress, "overlap of answers")
        found = self.store.recall(part, self.fingerprints[part], items, counted)
        for question, item in zip(answered, items, strict=True):
            question.lerc = found[item]

    def _model(self, part: str) -> str:
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


def _counted(
    compute: Callable[[list[tuple]], Batches], progress: MakeProgress, label: str
) -> Callable[[list[tuple]], Batches]:
    """`compute`, with its finished items counted on a progress display."""

    def counted(new: list[tuple]) -> Batches:
        with progress(f"qafacteval: {label}", len(new), "questions") as display:
            for results in compute(new):
                yield results
                display.advance(len(results))

    return counted
