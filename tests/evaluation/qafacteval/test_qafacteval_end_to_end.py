"""The whole metric on tiny random models: batched as one by one."""

import pytest
import torch

from brido.evaluation.qafacteval import QAFactEval
from brido.evaluation.qafacteval.lerc import Comparison
from brido.evaluation.qafacteval.overlap import is_kept, token_f1

DOCUMENTS = [
    "The court in Leeds jailed Ann Smith for three years on Monday. A judge left.",
    "The council met in Oldbridge. The owner sold the café.",
]
SUMMARIES = ["The court jailed Ann Smith.", "The council in Leeds sold the café. The judge left."]


@pytest.fixture(scope="module")
def tiny(published, pipeline_folder) -> QAFactEval:
    torch.set_num_threads(1)
    # Random models rarely agree with themselves: these sizes and seeds give kept questions.
    return QAFactEval.load(
        str(published.folder), str(pipeline_folder), device="cpu", batch_tokens=2000
    )


def _one_by_one(metric: QAFactEval, document: str, summary: str):
    """The metric without batches, store or deduplication."""
    from brido.evaluation.qafacteval.answers import select_answers
    from brido.evaluation.qafacteval.questions import MarkedSentence

    def answer(question, context):
        (found,) = [one for batch in metric.reader.run([(question, context)], 1) for one in batch]
        return found[1]

    scores = []
    for found in select_answers(metric.pipeline, [summary])[0]:
        sentence = summary[found.sentence_start : found.sentence_end]
        offset = found.sentence_start
        item = MarkedSentence(sentence, found.start - offset, found.end - offset)
        (question,) = metric.generator.generate([metric.generator.encode(item)])
        first = answer(question, summary)
        if not is_kept(found.text, **first):
            continue
        second = answer(question, document)
        if second["probability"] <= second["null_probability"]:
            scores.append((0.0, 0.0, 0.0))
            continue
        comparison = Comparison(question, found.text, second["prediction"], document)
        (lerc,) = metric.scorer.score([metric.scorer.encode(comparison)])
        scores.append((lerc, token_f1(found.text, second["prediction"]), 1.0))
    return scores


def _self_answering(monkeypatch) -> None:
    """Random readers almost never find the answer again: let the filter keep every question."""
    for module in ("records", "overlap"):
        monkeypatch.setattr(f"brido.evaluation.qafacteval.{module}.is_kept", lambda *_, **__: True)
    monkeypatch.setitem(globals(), "is_kept", lambda *_, **__: True)


def test_real_path_equals_one_by_one(tiny, monkeypatch):
    _self_answering(monkeypatch)
    documents = [*DOCUMENTS, "The owner left. " * 300, ""]
    summaries = [*SUMMARIES, "The owner sold three cakes.", "Ann left Leeds."]
    rows = tiny.score(documents, summaries)
    for row, document, summary in zip(rows, documents, summaries, strict=True):
        expected = _one_by_one(tiny, document, summary)
        count = len(expected)
        assert row["n_questions"] == count > 0
        assert row["lerc"] == pytest.approx(sum(s[0] for s in expected) / count, rel=1e-3, abs=1e-4)
        assert row["f1"] == pytest.approx(sum(s[1] for s in expected) / count)
        assert row["is_answered"] == pytest.approx(sum(s[2] for s in expected) / count)
    assert any(row["lerc"] for row in rows)
    signature = tiny.signature()
    assert signature["scorer"] == "lerc_quip"
    assert set(signature["models"]) == {"questions", "answering", "lerc_quip"}
