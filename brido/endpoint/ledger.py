"""Where answers go, whoever gave them: kept, paid for and counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from brido.endpoint.answers import Answer, Question
from brido.endpoint.budget import Budget
from brido.endpoint.store import AnswerStore, Row


@dataclass
class Report:
    """What happened: answers that came and their tokens, calls, questions given up, trouble."""

    answers: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    calls: int = 0
    given_up: int = 0
    trouble: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        text = f"{self.answers:,} answers from {self.calls:,} calls"
        if self.given_up:
            text += f", {self.given_up:,} questions given up"
        if self.trouble:
            kinds = ", ".join(f"{count:,} {what}" for what, count in self.trouble.most_common())
            text += f" (trouble: {kinds})"
        return text


@dataclass
class Ledger:
    """What a respondent writes to; `advance(samples)` is to be called when a call is done with."""

    store: AnswerStore
    budget: Budget
    report: Report
    advance: Callable[[int], None] = lambda count: None

    def received(self, question: Question, answers: Sequence[Answer]) -> list[Row]:
        """Count the answers that one call gave to the first samples of `question`.

        Returns the rows that are to be stored, the prompt's length in the first of them.
        """
        prompt_tokens = sum(answer.prompt_tokens for answer in answers)
        answer_tokens = sum(answer.answer_tokens for answer in answers)
        self.report.answers += len(answers)
        self.report.prompt_tokens += prompt_tokens
        self.report.answer_tokens += answer_tokens
        self.budget.count(question.characters, prompt_tokens, answer_tokens)
        numbered = enumerate(zip(question.samples, answers, strict=False))
        return [
            Row(question.model, question.key, sample, 0 if index else question.characters, answer)
            for index, (sample, answer) in numbered
        ]

    def keep(self, question: Question, answers: Sequence[Answer]) -> None:
        """Count and store the answers of one call; they are durable when this returns."""
        self.store.append(self.received(question, answers))


class Respondent(Protocol):
    """Whoever answers: a server (brido.endpoint.asking), a model in this process, a test."""

    def ask(self, questions: Iterable[Question], ledger: Ledger) -> None:
        """Put every answer into `ledger`; a question that gets none is left out.

        Raises:
            BridoError: nobody can be asked, or nothing more may be spent.
        """
