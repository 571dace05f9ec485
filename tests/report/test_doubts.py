"""MiniCheck's sentences for the page: which documents, and which sentences are doubted."""

import json

import numpy as np

from brido.report.doubts import doubts
from brido.report.metrics import Scores
from brido.tables import CORPUS, evaluation_schema, write_table


def test_the_documents_whose_worst_sentence_changed_with_their_sentences(tmp_path):
    names = ["d0", "d1"]
    rows = [{"id": name, "document": "Bo won.", "summary": "s", "references": []} for name in names]
    write_table(tmp_path / "corpus", [rows], CORPUS)
    sentences = {"base": [["Bo won.", 0.9], ["Al lost.", 0.499]], "tuned": [["Bo won.", 0.5]]}
    worst = {"base": [0.3, 0.499], "tuned": [0.3, 0.5]}
    tables, scores = {}, {}
    for system in ("base", "tuned"):
        tables[system] = tmp_path / system
        detail = json.dumps({"sentences": sentences[system]})
        found = zip(names, worst[system], strict=True)
        rows = [{"id": name, "worst": value, "detail": detail} for name, value in found]
        write_table(tables[system], [rows], evaluation_schema(["worst"]))
        values = np.array(worst[system])[:, None]
        scores[system] = Scores(names, [("minicheck", "worst")], values, {})
    (shown,) = doubts(scores, tables, tmp_path / "corpus")
    assert (shown.id, shown.text, round(shown.change, 3)) == ("d1", "Bo won.", 0.001)
    base, tuned = shown.summaries
    assert base.sentences == [("Bo won.", "0.90", False), ("Al lost.", "0.50", True)]
    assert (tuned.system, tuned.worst) == ("tuned", "0.50")
    assert tuned.sentences == [("Bo won.", "0.50", False)]
    assert doubts(scores, {"tuned": tables["tuned"]}, tmp_path / "corpus") == []
