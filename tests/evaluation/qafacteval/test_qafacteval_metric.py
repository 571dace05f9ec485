"""The rules of the metric, by models that answer from tables."""

import pytest

from brido.evaluation import Inputs
from brido.evaluation.parts import join_signatures
from brido.evaluation.qafacteval import METRIC, QAFactEval
from brido.evaluation.qafacteval.answering import NOTHING
from brido.evaluation.qafacteval.answers import load_pipeline
from brido.evaluation.qafacteval.lerc import Comparison
from brido.evaluation.qafacteval.records import SCORES
from brido.utils.store import ResultStore
from brido.work.settings import RuntimeSettings


class _Generator:
    """Asks `who ANSWER?` for every answer and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def run(self, items, batch_tokens):
        self.asked += [item.marked() for item in items]
        for index, item in enumerate(items):
            yield [(index, f"who {item.sentence[item.start : item.end]}?")]


class _Reader:
    """Answers from a table of (question, context), otherwise with the asked words if there."""

    def __init__(self, table=()) -> None:
        self.table = dict(table)
        self.asked: list[tuple[str, str]] = []

    def run(self, pairs, batch_tokens):
        self.asked += [pair for pair in pairs if pair[1].split()]
        yield [(index, self._answer(*pair)) for index, pair in enumerate(pairs)]

    def _answer(self, question, context):
        words = question.removeprefix("who ").removesuffix("?")
        found = prediction(words, 0.9, 0.1) if words in context else prediction("x", 0.1, 0.9)
        return self.table.get((question, context), found if context.split() else NOTHING)


class _Scorer:
    """Five for equal answers, two otherwise."""

    def __init__(self) -> None:
        self.asked: list[Comparison] = []

    def run(self, items, batch_tokens):
        self.asked += items
        yield [
            (index, 5.0 if item.answer == item.prediction else 2.0)
            for index, item in enumerate(items)
        ]


def prediction(text, probability, null):
    return {"prediction": text, "probability": probability, "null_probability": null}


def _metric(pipeline_folder, table=(), store=None) -> QAFactEval:
    prints = {"questions": "q", "answering": "a", "lerc_quip": "l"}
    return QAFactEval(
        load_pipeline(str(pipeline_folder)), _Generator(), _Reader(table), _Scorer(), "noun_chunks",
        prints, store or ResultStore(),
    )  # fmt: skip


def test_means_run_over_the_kept_questions(pipeline_folder):
    source, summary = "The court met. Ann Smith left.", "The court jailed Ann Smith in Leeds."
    metric = _metric(
        pipeline_folder,
        {
            # Not kept: the summary answers something else.
            ("who The court?", summary): prediction("Ann Smith", 0.9, 0.1),
            ("who Ann Smith?", source): prediction("Smith", 0.6, 0.4),
        },
    )
    (row,) = metric.score([source], [summary])
    assert (row["n_generated"], row["n_questions"], row["without_questions"]) == (3, 2, 0)
    # Ann Smith: answered with F1 2/3, LERC 2; Leeds: the source does not answer, all zero.
    assert row["is_answered"] == 0.5
    assert row["f1"] == pytest.approx(1 / 3)
    assert row["em"] == 0.0
    assert row["lerc"] == 1.0
    dropped, ann, leeds = row["questions"]
    assert dropped["kept"] is False
    assert dropped["on_source"] is None
    assert "f1" not in dropped
    assert ann["on_source"]["prediction"] == "Smith"
    assert (leeds["is_answered"], leeds["f1"], leeds["em"], leeds["lerc"]) == (0.0, 0.0, 0.0, 0.0)
    assert metric.reader.asked.count(("who The court?", source)) == 0
    assert [item.answer for item in metric.scorer.asked] == ["Ann Smith"]


def test_empty_texts_mean_zeros_are_counted_and_move_nothing(pipeline_folder):
    """Empty sources keep their questions and their place; the rows after them are their own."""
    summaries = ["", "  \n", "lied.", "?", "Ann left.", "The judge left.", "Leeds won."]
    documents = ["Ann left."] * 4 + ["", " \n", "Leeds won."]
    metric = _metric(pipeline_folder)
    rows = metric.score(documents, summaries)
    for row in rows[:4]:
        assert [row[name] for name in SCORES] == [0.0] * 4
        assert (row["n_questions"], row["without_questions"]) == (0, 1)
    rest = rows[4:]
    assert [row["questions"][0]["answer"] for row in rest] == ["Ann", "The judge", "Leeds"]
    assert [row["is_answered"] for row in rest] == [0.0, 0.0, 1.0]
    assert rest[0]["questions"][0]["on_source"] == NOTHING


def test_nothing_is_asked_twice(pipeline_folder, tmp_path):
    path = tmp_path / "store.sqlite"
    first = _metric(pipeline_folder, store=ResultStore(path))
    documents = ["Ann left.", "Ann left.", "Ann won."]
    rows = first.score(documents, ["Ann left."] * 3)
    assert len(first.generator.asked) == 1
    assert len(first.reader.asked) == len(set(first.reader.asked)) == 2
    again = _metric(pipeline_folder, store=ResultStore(path))
    assert again.score(documents, ["Ann left."] * 3) == rows
    assert (again.generator.asked, again.reader.asked, again.scorer.asked) == ([], [], [])
    # A changed summary pays for its new sentence alone.
    again.score(documents[:1], ["Ann left. Bob won."])
    assert again.generator.asked == ["<m> Bob </m> won."]
    # Another model pays for all of its own.
    asked = len(again.reader.asked)
    again.fingerprints["answering"] = "b"
    again.score(documents[:1], ["Ann left."])
    assert len(again.generator.asked) == 1
    assert len(again.reader.asked) == asked + 1


def test_parts_of_any_size_are_one_table_with_summed_counts(pipeline_folder, monkeypatch):
    metric = _metric(pipeline_folder)
    monkeypatch.setattr("brido.evaluation.qafacteval._load", lambda *arguments: metric)
    parts = []
    for texts in (["Ann left.", ""], ["Bob won."]):
        inputs = Inputs(texts, texts, texts, [[text] for text in texts])
        found = METRIC.measure(inputs, runtime=RuntimeSettings())
        parts.append({"signature": found.signature, "counts": found.counts})
    counts = {"n_questions": 2, "n_without_questions": 1}
    assert join_signatures(parts) == metric.signature() | counts


def test_shares_are_times_100_in_the_stage(pipeline_folder, monkeypatch):
    metric = _metric(pipeline_folder)
    monkeypatch.setattr("brido.evaluation.qafacteval._load", lambda *arguments: metric)
    inputs = Inputs(["a"], ["Ann left."], ["Ann met Bob."], [["Ann left."]])
    found = METRIC.measure(inputs, runtime=RuntimeSettings())
    assert found.rows == [
        {"lerc": 2.5, "f1": 50.0, "em": 50.0, "is_answered": 50.0, "n_questions": 2.0,
         "without_questions": 0.0}
    ]  # fmt: skip
