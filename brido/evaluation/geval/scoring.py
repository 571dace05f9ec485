"""From stored answers to one row of marks per document, and the account of what is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from brido.endpoint import Answer
from brido.evaluation.geval.criteria import CRITERIA, average, average_normalised
from brido.evaluation.geval.parsing import Mark, Missing, read_marks
from brido.utils.errors import BridoError, some


@dataclass
class Account:
    """Marks that were to come, those that are missing by reason, and what the answers took."""

    marks: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    missing_documents: list[str] = field(default_factory=list)
    answers: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    served_models: Counter[str] = field(default_factory=Counter)

    def check(self, max_invalid_fraction: float, way_out: str) -> None:
        """Raise BridoError when too many marks are missing.

        `way_out`: what helps where the server did not answer.
        """
        missing = self.missing.total()
        if self.marks == 0 or missing <= max_invalid_fraction * self.marks:
            return
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.missing.most_common())
        first = some(self.missing_documents)
        unanswered = f"{way_out}. " if {"not_answered", "empty"} & set(self.missing) else ""
        if {"missing", "several", "not_a_number"} & set(self.missing):
            unanswered += (
                "Marks are read in JSON or in lines of their own: ask for JSON with "
                "evaluation.geval.structured_output: always (or json_object). "
            )
        if {"cut_off", "empty"} & set(self.missing):
            unanswered += (
                "A model that thinks before it answers may spend all its tokens on that: raise "
                "evaluation.geval.max_answer_tokens, or switch thoughts off by "
                "evaluation.geval.extra_parameters (docs/deploy.md). "
            )
        raise BridoError(
            f"geval: {missing:,} of {self.marks:,} marks are missing ({missing / self.marks:.1%}; "
            f"evaluation.geval.max_invalid_fraction allows {max_invalid_fraction:.1%}): {reasons}. "
            f"First documents: {first}. {unanswered}To read the answers "
            "(they are kept), raise max_invalid_fraction and look at the column `detail` of the "
            "table of marks"
        )


def score_document(
    name: str,
    groups: Sequence[tuple[Sequence[str], Mapping[int, Answer]]],
    samples: int,
    account: Account,
) -> tuple[dict[str, float | None], dict[str, Any]]:
    """One document's row of marks and detail from its answers.

    `groups` pairs the criteria of each question with its answers by sample number. A criterion's
    mark is the mean over the samples that hold a valid one and None where there is none;
    `valid_answers` is the smallest number of valid marks that a criterion has.
    """
    collected: dict[str, list[float]] = {criterion: [] for criterion in CRITERIA}
    written: list[dict[str, Any]] = []
    missing_before = account.missing.total()
    for criteria, answers in groups:
        for sample in range(samples):
            marks = _marks(answers.get(sample), criteria)
            account.marks += len(marks)
            for criterion, mark in marks.items():
                if isinstance(mark, Missing):
                    account.missing[mark.reason] += 1
                else:
                    collected[criterion].append(mark)
            if sample in answers:
                _count(answers[sample], account)
                written.append(_describe(sample, criteria, answers[sample], marks))
    if account.missing.total() > missing_before:
        account.missing_documents.append(name)
    row: dict[str, float | None] = {
        criterion: fmean(marks) if marks else None for criterion, marks in collected.items()
    }
    row["average"], row["average_normalised"] = average(row), average_normalised(row)
    row["valid_answers"] = float(min(map(len, collected.values())))
    return row, {"answers": written}


def same_marks(rows: Sequence[Mapping[str, float | None]]) -> str:
    """The marks in words if they are the same in every row; empty if they differ or are missing."""
    marks = {tuple(row[criterion] for criterion in CRITERIA) for row in rows}
    if len(marks) != 1 or None in (only := marks.pop()):
        return ""
    return ", ".join(f"{name} {mark:g}" for name, mark in zip(CRITERIA, only, strict=True))


def _marks(answer: Answer | None, criteria: Sequence[str]) -> dict[str, Mark]:
    if answer is None:
        return dict.fromkeys(criteria, Missing("not_answered"))
    return read_marks(answer.text, criteria, answer.ending)


def _count(answer: Answer, account: Account) -> None:
    account.answers += 1
    account.prompt_tokens += answer.prompt_tokens
    account.answer_tokens += answer.answer_tokens
    account.served_models[answer.served_model] += 1


def _describe(
    sample: int, criteria: Sequence[str], answer: Answer, marks: Mapping[str, Mark]
) -> dict[str, Any]:
    """One answer as the detail shows it: what the judge wrote and what was read from it."""
    described: dict[str, Any] = {
        "sample": sample,
        "criteria": list(criteria),
        "text": answer.text,
        "marks": {name: mark for name, mark in marks.items() if not isinstance(mark, Missing)},
    }
    missing = {name: mark.reason for name, mark in marks.items() if isinstance(mark, Missing)}
    if missing:
        described["missing"] = missing
    return described
