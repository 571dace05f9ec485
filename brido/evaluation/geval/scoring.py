"""From stored answers to one row of marks per document, and the account of what is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from brido.endpoint import Answer
from brido.evaluation.geval.criteria import CRITERIA, average, average_normalised
from brido.evaluation.geval.parsing import Missing, read_marks
from brido.utils.errors import BridoError, some


@dataclass
class Account:
    """Marks that were to come, those that are missing by reason, and what the answers took."""

    marks: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    missing_documents: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    def check(self, max_invalid_fraction: float, way_out: str) -> None:
        """Raise BridoError when too many marks are missing.

        `way_out`: what helps where the server did not answer.
        """
        missing = self.missing.total()
        if missing <= max_invalid_fraction * self.marks:
            return
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.missing.most_common())
        raise BridoError(
            f"geval: {missing:,} of {self.marks:,} marks are missing ({missing / self.marks:.1%}; "
            f"evaluation.geval.max_invalid_fraction allows {max_invalid_fraction:.1%}): {reasons}. "
            f"First documents: {some(self.missing_documents)}. What may help: for not_answered, "
            f"{way_out}; for missing, structured_output: always; for cut_off, another "
            "max_answer_tokens, or no thoughts (extra_parameters; docs/deploy.md). To read the "
            "answers (they are kept), raise max_invalid_fraction and look at the column `detail`"
        )

    def signature(self) -> dict[str, Any]:
        """What was counted, for the signature."""
        served = Counter(answer.served_model for answer in self.answers)
        return {
            "served_models": dict(sorted(served.items())),
            "marks": self.marks,
            "missing_marks": dict(sorted(self.missing.items())),
            "answers": len(self.answers),
            "prompt_tokens": sum(answer.prompt_tokens for answer in self.answers),
            "answer_tokens": sum(answer.answer_tokens for answer in self.answers),
        }


def score_document(
    name: str,
    groups: Sequence[tuple[Sequence[str], Mapping[int, Answer]]],
    samples: int,
    account: Account,
) -> tuple[dict[str, float | None], dict[str, Any]]:
    """One document's row of marks and detail from its answers.

    `groups` pairs the criteria of each question with its answers by sample number, in order. A
    criterion's mark is the mean over the samples that hold a valid one and None where there is
    none; `valid_answers` is the smallest number of valid marks that a criterion has.
    """
    collected: dict[str, list[float]] = {criterion: [] for criterion in CRITERIA}
    written: list[dict[str, Any]] = []
    missing: Counter[str] = Counter()
    for criteria, answers in groups:
        account.marks += samples * len(criteria)
        missing["not_answered"] += (samples - len(answers)) * len(criteria)
        account.answers += answers.values()
        for sample, answer in answers.items():
            marks = read_marks(answer.text, criteria, answer.ending)
            why = {key: mark.reason for key, mark in marks.items() if isinstance(mark, Missing)}
            found = {key: mark for key, mark in marks.items() if not isinstance(mark, Missing)}
            missing.update(why.values())
            for criterion, mark in found.items():
                collected[criterion].append(mark)
            shown = {"sample": sample, "criteria": list(criteria), "text": answer.text}
            written.append(shown | {"marks": found} | ({"missing": why} if why else {}))
    if missing.total():
        account.missing += missing
        account.missing_documents.append(name)
    row: dict[str, float | None] = {
        criterion: fmean(marks) if marks else None for criterion, marks in collected.items()
    }
    row["average"], row["average_normalised"] = average(row), average_normalised(row)
    row["valid_answers"] = float(min(map(len, collected.values())))
    return row, {"answers": written}
