"""The questions of one summary for people: what was asked, what came back, and the verdict."""

from collections.abc import Sequence
from typing import Any

COLUMNS = ("question", "summary says", "source says", "F1", "LERC", "verdict")


def question_rows(questions: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """One row of texts (COLUMNS) per question of a document's detail, kept ones first.

    `questions` is the `questions` of a row of `QAFactEval.score`, or the parsed detail of the
    evaluation table. Texts are plain: escape them before showing them as HTML.
    """
    ordered = sorted(questions, key=lambda question: not question["kept"])
    return [_row(question) for question in ordered]


def _row(question: dict[str, Any]) -> dict[str, str]:
    asked = {"question": question["question"], "summary says": question["answer"]}
    if not question["kept"]:
        found = question["on_summary"]
        reason = (
            f"the summary answers {found['prediction']!r}"
            if found["probability"] > found["null_probability"]
            else "the summary does not answer it"
        )
        return {
            **asked, "source says": "", "F1": "", "LERC": "",
            "verdict": f"not asked: {reason}",
        }  # fmt: skip
    if not question["is_answered"]:
        return {
            **asked, "source says": "", "F1": "0.00", "LERC": "0.00",
            "verdict": "the source does not answer it",
        }  # fmt: skip
    return {
        **asked,
        "source says": question["on_source"]["prediction"],
        "F1": f"{question['f1']:.2f}",
        "LERC": f"{question['lerc']:.2f}",
        "verdict": "same answer" if question["em"] else "another answer",
    }


def as_text(questions: Sequence[dict[str, Any]]) -> str:
    """The rows as aligned plain text for a terminal; one sentence where there are none."""
    rows = question_rows(questions)
    if not rows:
        return "no question: the summary has no noun chunk"
    table = [dict(zip(COLUMNS, COLUMNS, strict=True)), *rows]
    widths = [max(len(row[column]) for row in table) for column in COLUMNS]
    lines = [
        "  ".join(row[column].ljust(width) for column, width in zip(COLUMNS, widths, strict=True))
        for row in table
    ]
    return "\n".join(line.rstrip() for line in lines)
