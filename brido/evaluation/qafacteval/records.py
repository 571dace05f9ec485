"""A question on its way through the metric, and a summary's questions as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from brido.evaluation.qafacteval.answering import NOTHING
from brido.evaluation.qafacteval.answers import AnswerSpan
from brido.evaluation.qafacteval.lerc import Comparison
from brido.evaluation.qafacteval.overlap import exact_match, is_answered, is_kept, token_f1
from brido.evaluation.qafacteval.questions import MarkedSentence

SCORES = ("lerc", "f1", "em", "is_answered")


@dataclass
class GeneratedQuestion:
    """One answer of one summary, its question, and the reader's answers to it.

    `on_summary` and `on_source` are the reader's predictions. `on_source` stays None where the
    filter drops the question.
    """

    document: int
    answer: AnswerSpan
    sentence: str
    text: str = ""
    on_summary: dict[str, Any] = field(default_factory=dict)
    on_source: dict[str, Any] | None = None
    lerc: float = 0.0

    @property
    def kept(self) -> bool:
        """Whether the filter keeps the question, by its answer on the summary."""
        return is_kept(self.answer.text, **self.on_summary)

    @property
    def answered(self) -> bool:
        """Whether the source answers it; False before it was asked."""
        found = self.on_source
        return found is not None and is_answered(found["probability"], found["null_probability"])

    def marked(self) -> MarkedSentence:
        """What the question is made from."""
        first = self.answer.sentence_start
        return MarkedSentence(self.sentence, self.answer.start - first, self.answer.end - first)

    def comparison(self, source: str) -> Comparison:
        """The answer that the question was made from, and the one that its source gives."""
        prediction = (self.on_source or NOTHING)["prediction"]
        return Comparison(self.text, self.answer.text, prediction, source)

    def scores(self) -> dict[str, float]:
        """The four scores of a kept question; all 0.0 where the source does not answer it."""
        found = self.on_source
        if found is None or not self.answered:
            return dict.fromkeys(SCORES, 0.0)
        return {
            "lerc": self.lerc,
            "f1": token_f1(self.answer.text, found["prediction"]),
            "em": exact_match(self.answer.text, found["prediction"]),
            "is_answered": 1.0,
        }

    def detail(self) -> dict[str, Any]:
        """What a reader needs to see why the summary lost points here, JSON-able."""
        answer, found = self.answer, self.on_summary
        shown: dict[str, Any] = {
            "question": self.text,
            "answer": answer.text,
            "answer_start": answer.start,
            "answer_end": answer.end,
            "sentence_start": answer.sentence_start,
            "sentence_end": answer.sentence_end,
            "kept": self.kept,
            "on_summary": {**found, "f1": token_f1(answer.text, found["prediction"])},
            "on_source": self.on_source,
        }
        return shown | self.scores() if self.kept else shown


def summarise(questions: Sequence[GeneratedQuestion]) -> dict[str, Any]:
    """One document's row: the means over its kept questions, zeros where there are none.

    Beside them n_questions (kept), n_generated, without_questions (1 where nothing was kept) and
    the details of every question.
    """
    scores = [question.scores() for question in questions if question.kept]
    count = len(scores)
    means = {
        name: sum(score[name] for score in scores) / count if count else 0.0 for name in SCORES
    }
    return {
        **means,
        "n_questions": count,
        "n_generated": len(questions),
        "without_questions": int(count == 0),
        "questions": [question.detail() for question in questions],
    }
