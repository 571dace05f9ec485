"""What metrics say of single documents: which documents, and what is shown of them."""

import json
import math

import numpy as np

from brido.report.metrics import Scores
from brido.report.page import Page, render_page
from brido.report.page.details import most_changed, read_details
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
LERC = ("qafacteval", "lerc")
# Of both documents each system's number, and the detail of its summaries.
QUESTIONS = {"base": ([1.5, 2.0], [DROPPED, KEPT]), "tuned": ([1.5, 1.5], [])}
SENTENCES = {
    "base": ([0.3, 0.499], {"sentences": [["Bo won.", 0.9], ["Al lost.", 0.499]]}),
    "tuned": ([0.3, 0.5], {"sentences": [["Bo won.", 0.5]]}),
}


def scores(*values):
    ids = [f"d{n}" for n in range(len(values))]
    return Scores(ids, [LERC], np.array(values, float)[:, None], {})


def test_the_documents_that_changed_most_gains_first():
    base, tuned = scores(1, 1, 1, 1, 1, 1), scores(2, 1, 0, 4, -2, 1.5)
    every = [("d3", 3), ("d0", 1), ("d5", 0.5), ("d2", -1), ("d4", -3)]
    assert most_changed(base, tuned, LERC, 9) == every
    assert most_changed(base, tuned, LERC, 4) == [*every[:2], *every[3:]]
    assert most_changed(base, base, LERC, 4) == []
    assert most_changed(Scores(base.ids, [], base.values, {}), tuned, LERC, 4) == []
    assert most_changed(scores(1, math.nan), scores(2, 3), LERC, 4) == [("d0", 1)]


def sections(folder, metric, column, found):
    """What `read_details` makes of a run of two documents."""
    names = ["d0", "d1"]
    document = {"document": f"Bo Ek won. {HOSTILE}", "summary": "s", "references": ["s"]}
    write_table(folder / "corpus", [[{"id": name, **document} for name in names]], CORPUS)
    tables, decoded, numbers = {}, {}, {}
    for system, (values, detail) in found.items():
        tables[system], decoded[system] = {metric: folder / f"{system}.e"}, folder / f"{system}.d"
        rows = [
            {"id": name, column: value, "detail": json.dumps(detail)}
            for name, value in zip(names, values, strict=True)
        ]
        write_table(tables[system][metric], [rows], evaluation_schema([column]))
        rows = [{"id": n, "summary": f"of {n} by {system}", "score": 0.0} for n in names]
        write_table(decoded[system], [rows], DECODED)
        numbers[system] = Scores(names, [(metric, column)], np.array(values)[:, None], {})
    alone = {"tuned": tables["tuned"]}
    assert read_details(numbers, alone, decoded, folder / "corpus") == []
    return read_details(numbers, tables, decoded, folder / "corpus")


def test_questions_stand_in_the_page_as_text(tmp_path):
    (section,) = sections(tmp_path, *LERC, QUESTIONS)
    (document,) = section.documents
    assert [summary for _, summary, _, _ in document.summaries] == [
        "of d1 by base",
        "of d1 by tuned",
    ]
    kept, dropped = document.summaries[0][-1]
    assert kept == ["Who won?", HOSTILE, "Bo Ek", "0.50", "3.25", "another answer"]
    assert dropped[-1] == "not asked: the summary does not answer it"
    table = ResultTable([], [], [])
    page = Page(
        "t", [], table, table, [], ["base", "tuned"], "tuned", "base", 0.0, details=[section]
    )
    html, _ = render_page(page)
    assert "alert(1)&lt;/script&gt;" in html
    assert HOSTILE not in html
    assert "d1: base 2.00, tuned 1.50 (-0.50)" in html


def test_sentences_below_one_half_are_in_doubt(tmp_path):
    (section,) = sections(tmp_path, "minicheck", "worst", SENTENCES)
    (document,) = section.documents
    assert (document.id, round(document.change, 3)) == ("d1", 0.001)
    (*_, rows), tuned = document.summaries
    assert rows == [["Bo won.", "0.90", ""], ["Al lost.", "0.50", "in doubt"]]
    assert tuned == ("tuned", "of d1 by tuned", "0.50", [["Bo won.", "0.50", ""]])
