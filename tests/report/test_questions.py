"""QAFactEval's questions for the page: which documents, and what is shown of them."""

import json
import math

import numpy as np

from brido.report.metrics import Scores
from brido.report.page import Page, render_page
from brido.report.questions import NAME, SCORE, examine, most_changed
from brido.report.summary import ResultTable
from brido.tables import CORPUS, DECODED, evaluation_schema, write_table

HOSTILE = "<script>alert(1)</script>"
KEPT = {
    "question": "Who won?", "answer": HOSTILE, "kept": True, "is_answered": True, "em": 0.0,
    "f1": 0.5, "lerc": 3.25, "on_summary": {}, "on_source": {"prediction": "Bo Ek"},
}  # fmt: skip
DROPPED = {
    "question": "What did?", "answer": "it", "kept": False, "is_answered": False,
    "on_summary": {"prediction": "", "probability": 0.1, "null_probability": 0.9},
}  # fmt: skip


def scores(*values):
    ids = [f"d{n}" for n in range(len(values))]
    return Scores(ids, [("qafacteval", "lerc")], np.array(values, float)[:, None], {})


def test_the_documents_that_changed_most_gains_first():
    base, tuned = scores(1, 1, 1, 1, 1, 1), scores(2, 1, 0, 4, -2, 1.5)
    assert most_changed(base, tuned, (NAME, SCORE), 4) == [
        ("d3", 3),
        ("d0", 1),
        ("d2", -1),
        ("d4", -3),
    ]
    assert most_changed(base, tuned, (NAME, SCORE), 9) == [
        ("d3", 3), ("d0", 1), ("d5", 0.5), ("d2", -1), ("d4", -3),
    ]  # fmt: skip
    assert most_changed(base, base, (NAME, SCORE), 4) == []
    assert most_changed(Scores(base.ids, [], base.values, {}), tuned, (NAME, SCORE), 4) == []
    assert most_changed(scores(1, math.nan), scores(2, 3), (NAME, SCORE), 4) == [("d0", 1)]


def test_questions_stand_in_the_page_as_text(tmp_path):
    names = ["d0", "d1"]
    document = {"document": f"Bo Ek won. {HOSTILE}", "summary": "s", "references": ["s"]}
    write_table(tmp_path / "corpus", [[{"id": name, **document} for name in names]], CORPUS)
    tables = {}
    for system, questions in (("base", [DROPPED, KEPT]), ("tuned", [])):
        tables[system] = (tmp_path / f"{system}.e", tmp_path / f"{system}.d")
        rows = [{"id": n, "lerc": 1.5, "detail": json.dumps(questions)} for n in names]
        write_table(tables[system][0], [rows], evaluation_schema(["lerc"]))
        rows = [{"id": n, "summary": f"of {n} by {system}", "score": 0.0} for n in names]
        write_table(tables[system][1], [rows], DECODED)
    both = {"base": scores(1.5, 2), "tuned": scores(1.5, 1.5)}
    (examined,) = examine(both, tables, tmp_path / "corpus")
    assert examine(both, {"tuned": tables["tuned"]}, tmp_path / "corpus") == []
    assert [one.summary for one in examined.summaries] == ["of d1 by base", "of d1 by tuned"]
    kept, dropped = examined.summaries[0].questions
    assert kept == ["Who won?", HOSTILE, "Bo Ek", "0.50", "3.25", "another answer"]
    assert dropped[-1] == "not asked: the summary does not answer it"
    table = ResultTable([], [], [])
    page = Page(
        "t", [], table, table, [], ["base", "tuned"], "tuned", "base", 0.0, examined=[examined]
    )
    html, _ = render_page(page)
    assert "alert(1)&lt;/script&gt;" in html
    assert HOSTILE not in html
    assert "d1: base 1.50, tuned 1.50 (-0.50)" in html
    assert "No question: the summary has no answer to ask for." in html
