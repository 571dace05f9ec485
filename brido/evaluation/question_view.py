"""The questions of one summary for people: what was asked, what came back, and the verdict."""

from collections.abc import Sequence
from typing import Any

COLUMNS = ("question", "summary says", "source says", "F1", "LERC", "verdict")


def question_rows(questions: Sequence[dict[str, Any]]) -> list[list[str]]:
    """One row of texts (COLUMNS) per question of a document's detail, kept ones first.

    `questions` is the `questions` of a row of `QAFactEval.score`, or the parsed detail of the
    evaluation table. Texts are plain: escape them before showing them as HTML.
    """
    ordered = sorted(questions, key=lambda question: not question["kept"])
    return [[one["question"], one["answer"], *_result(one)] for one in ordered]


def _result(question: dict[str, Any]) -> list[str]:
    if not question["kept"]:
        found = question["on_summary"]
        reason = (
            f"the summary answers {found['prediction']!r}"
            if found["probability"] > found["null_probability"]
            else "the summary does not answer it"
        )
        return ["", "", "", f"not asked: {reason}"]
    if not question["is_answered"]:
        return ["", "0.00", "0.00", "the source does not answer it"]
    marks = [f"{question[name]:.2f}" for name in ("f1", "lerc")]
    verdict = "same answer" if question["em"] else "another answer"
    return [question["on_source"]["prediction"], *marks, verdict]


def as_text(questions: Sequence[dict[str, Any]]) -> str:
    """The rows as aligned plain text for a terminal; one sentence where there are none."""
    rows = question_rows(questions)
    if not rows:
        return "no question: the summary has no noun chunk"
    table = [COLUMNS, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in table)
