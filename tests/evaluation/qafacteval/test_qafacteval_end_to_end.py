"""The whole metric: rules by stand-in models, then the real path on tiny random models."""

import json
from types import SimpleNamespace

import pytest
import torch

from brido.evaluation import Inputs
from brido.evaluation.qafacteval import METRIC, QAFactEval, QAFactEvalSettings
from brido.evaluation.qafacteval.__main__ import command
from brido.evaluation.qafacteval.answering import NOTHING, Prediction
from brido.evaluation.qafacteval.answers import load_pipeline
from brido.evaluation.qafacteval.lerc import Comparison
from brido.evaluation.qafacteval.overlap import is_kept, token_f1
from brido.evaluation.qafacteval.records import SCORES
from brido.evaluation.question_view import COLUMNS, as_text, question_rows
from brido.utils.commands import invoke
from brido.utils.errors import ArgumentError, BridoError
from brido.utils.progress import Progress
from brido.utils.store import ResultStore
from brido.work.settings import RuntimeSettings

DOCUMENTS = [
    "The court in Leeds jailed Ann Smith for three years on Monday. A judge left.",
    "The council met in Oldbridge. The owner sold the café.",
]
SUMMARIES = ["The court jailed Ann Smith.", "The council in Leeds sold the café. The judge left."]


class _Generator:
    """Asks `who ANSWER?` for every answer and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def batches(self, items, batch_tokens):
        return [([index], [item]) for index, item in enumerate(items)]

    def generate(self, encoded):
        self.asked += [item.marked() for item in encoded]
        return [f"who {item.sentence[item.start : item.end]}?" for item in encoded]


class _Reader:
    """Answers from a table of (question, context), otherwise with the asked words if there."""

    def __init__(self, table=()) -> None:
        self.table = dict(table)
        self.asked: list[tuple[str, str]] = []

    def requests(self, pairs):
        return [SimpleNamespace(pair=pair, windows=pair[1].split()) for pair in pairs]

    def batches(self, requests, batch_tokens):
        return [[index] for index, request in enumerate(requests) if request.windows]

    def run(self, requests, batch):
        return [(index, self._answer(requests[index].pair)) for index in batch]

    def _answer(self, pair):
        self.asked.append(pair)
        words = pair[0].removeprefix("who ").removesuffix("?")
        found = Prediction(words, 0.9, 0.1) if words in pair[1] else Prediction("x", 0.1, 0.9)
        return self.table.get(pair, found)


class _Scorer:
    """Five for equal answers, two otherwise."""

    def __init__(self) -> None:
        self.asked: list[Comparison] = []

    def encode(self, comparison):
        self.asked.append(comparison)
        return [5 if comparison.answer == comparison.prediction else 2]

    def score(self, batch):
        return [float(ids[0]) for ids in batch]


def _metric(pipeline_folder, table=(), store=None) -> QAFactEval:
    settings = {"answers": "noun_chunks", "scorer": "lerc_quip", "faithful": True}
    prints = {"questions": "q", "answering": "a", "lerc_quip": "l"}
    return QAFactEval(
        load_pipeline(str(pipeline_folder)), _Generator(), _Reader(table), _Scorer(), settings,
        prints, store or ResultStore(),
    )  # fmt: skip


def test_means_run_over_the_kept_questions(pipeline_folder):
    source, summary = "The court met. Ann Smith left.", "The court jailed Ann Smith in Leeds."
    metric = _metric(
        pipeline_folder,
        {
            # Not kept: the summary answers something else.
            ("who The court?", summary): Prediction("Ann Smith", 0.9, 0.1),
            ("who Ann Smith?", source): Prediction("Smith", 0.6, 0.4),
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


def test_unanswered_scores_are_zero_even_if_the_words_agree(pipeline_folder):
    source = "Ann left."
    table = {("who Ann?", source): Prediction("Ann", 0.4, 0.4)}
    (row,) = _metric(pipeline_folder, table).score([source], ["Ann met."])
    assert row["n_questions"] == 1
    assert [row[name] for name in SCORES] == [0.0] * 4


@pytest.mark.parametrize("summary", ["", "  \n", "lied.", "?"])
def test_no_question_means_zeros_and_is_counted(pipeline_folder, summary):
    rows = _metric(pipeline_folder).score(["Ann left.", "Ann left."], [summary, "Ann left."])
    assert [rows[0][name] for name in SCORES] == [0.0] * 4
    assert (rows[0]["n_questions"], rows[0]["without_questions"]) == (0, 1)
    assert (rows[1]["em"], rows[1]["without_questions"]) == (1.0, 0)
    signature = _metric(pipeline_folder).signature(rows)
    assert signature["n_without_questions"] == 1
    assert signature["n_questions"] == 1


def test_an_empty_source_moves_nothing(pipeline_folder):
    """Empty sources keep their questions and their place; the rows after them are their own."""
    summaries = ["Ann left.", "The judge left.", "Leeds won."]
    rows = _metric(pipeline_folder).score(["", " \n", "Leeds won."], summaries)
    assert [row["questions"][0]["answer"] for row in rows] == ["Ann", "The judge", "Leeds"]
    assert [row["is_answered"] for row in rows] == [0.0, 0.0, 1.0]
    assert rows[0]["questions"][0]["on_source"] == NOTHING.as_dict()


def test_lists_of_sentences_are_joined_with_a_space(pipeline_folder):
    metric = _metric(pipeline_folder)
    (one,) = metric.score([["Ann left.", "Bob won."]], [["Ann left.", "Bob won."]])
    (other,) = metric.score(["Ann left. Bob won."], ["Ann left. Bob won."])
    assert one == other


def test_lengths_must_agree(pipeline_folder):
    with pytest.raises(BridoError, match="2 documents and 1 summaries"):
        _metric(pipeline_folder).score(["a", "b"], ["a"])


def test_without_its_models_it_says_how_to_load_them():
    with pytest.raises(ArgumentError, match=r"lacks pipeline, .*QAFactEval\.load\(\)"):
        QAFactEval()


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


def test_another_model_asks_anew(pipeline_folder):
    metric = _metric(pipeline_folder)
    metric.score(["Ann left."], ["Ann left."])
    metric.fingerprints["answering"] = "b"
    metric.score(["Ann left."], ["Ann left."])
    assert len(metric.generator.asked) == 1
    assert len(metric.reader.asked) == 2


class _Killed(Exception):
    pass


def test_a_killed_run_goes_on_where_it_was(pipeline_folder, tmp_path):
    documents = [f"Ann{i} left." for i in range(6)]
    expected = _metric(pipeline_folder).score(documents, documents)
    first = _metric(pipeline_folder, store=ResultStore(tmp_path / "s"))
    run = first.reader.run

    def dying(requests, batch):
        if len(first.reader.asked) == 4:
            raise _Killed
        return run(requests, batch)

    first.reader.run = dying
    with pytest.raises(_Killed):
        first.score(documents, documents)
    second = _metric(pipeline_folder, store=ResultStore(tmp_path / "s"))
    assert second.score(documents, documents) == expected
    assert second.generator.asked == []
    assert not set(second.reader.asked) & set(first.reader.asked)


def test_too_little_memory_names_the_setting(pipeline_folder):
    metric = _metric(pipeline_folder)

    def full(requests, batch):
        raise torch.OutOfMemoryError("CUDA out of memory.\nmore")

    metric.reader.run = full
    with pytest.raises(BridoError, match=r"lower runtime\.batch_tokens"):
        metric.score(["Ann left."], ["Ann left."])
    assert metric.generator.asked


def test_view_says_why_points_were_lost(pipeline_folder):
    source, summary = "Ann Smith left.", "The court jailed Ann Smith in Leeds."
    table = {
        ("who The court?", summary): Prediction("Ann", 0.9, 0.1),
        ("who Ann Smith?", source): Prediction("Smith", 0.6, 0.4),
    }
    (row,) = _metric(pipeline_folder, table).score([source], [summary])
    rows = question_rows(row["questions"])
    assert all(tuple(item) == COLUMNS for item in rows)
    assert [item["verdict"] for item in rows] == [
        "another answer",
        "the source does not answer it",
        "not asked: the summary answers 'Ann'",
    ]
    assert as_text(row["questions"]).count("\n") == 3
    assert "no noun chunk" in as_text([])


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
        (request,) = metric.reader.requests([(question, context)])
        for window in range(len(request.windows)):
            done = metric.reader.run([request], [(0, window)])
        return done[0][1] if request.windows else NOTHING

    scores = []
    for found in select_answers(metric.pipeline, [summary])[0]:
        sentence = summary[found.sentence_start : found.sentence_end]
        offset = found.sentence_start
        item = MarkedSentence(sentence, found.start - offset, found.end - offset)
        (question,) = metric.generator.generate([metric.generator.encode(item)])
        first = answer(question, summary)
        if not is_kept(found.text, first.text, first.probability, first.null_probability):
            continue
        second = answer(question, document)
        if second.probability <= second.null_probability:
            scores.append((0.0, 0.0, 0.0))
            continue
        comparison = Comparison(question, found.text, second.text, document)
        (lerc,) = metric.scorer.score([metric.scorer.encode(comparison)])
        scores.append((lerc, token_f1(found.text, second.text), 1.0))
    return scores


def _self_answering(monkeypatch) -> None:
    """Random readers almost never find the answer again: let the filter keep every question."""
    for module in ("records", "overlap"):
        monkeypatch.setattr(
            f"brido.evaluation.qafacteval.{module}.is_kept", lambda *arguments: True
        )
    monkeypatch.setitem(globals(), "is_kept", lambda *arguments: True)


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


def test_evaluate_for_the_stage(published, pipeline_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("BRIDO_WORK", str(tmp_path / "work"))
    settings = QAFactEvalSettings(models=str(published.folder), spacy_model=str(pipeline_folder))
    inputs = Inputs(["a", "b"], DOCUMENTS, SUMMARIES, [[text] for text in SUMMARIES])
    found = METRIC.measure(inputs, settings, Progress, RuntimeSettings(device="cpu"))
    assert len(found.rows) == 2
    assert found.signature["scorer"] == "lerc_quip"
    assert found.signature["n"] == 2
    assert set(found.signature["models"]) == {"questions", "answering", "lerc_quip"}
    json.dumps(found.details)
    assert (tmp_path / "work" / "answers" / "qafacteval.sqlite").is_file()


def test_shares_are_times_100_in_the_stage(pipeline_folder, monkeypatch):
    metric = _metric(pipeline_folder)
    monkeypatch.setattr("brido.evaluation.qafacteval.declaration._load", lambda *arguments: metric)
    inputs = Inputs(["a"], ["Ann left."], ["Ann met Bob."], [["Ann left."]])
    found = METRIC.measure(inputs, runtime=RuntimeSettings())
    assert found.rows == [
        {"lerc": 2.5, "f1": 50.0, "em": 50.0, "is_answered": 50.0, "n_questions": 2.0,
         "without_questions": 0.0}
    ]  # fmt: skip


def test_command_line(published, pipeline_folder, tmp_path, capsys):
    lines = [
        {"id": "x", "document": DOCUMENTS[0], "summary": SUMMARIES[0]},
        {"document": {"text": DOCUMENTS[1]}, "claim": [SUMMARIES[1]]},
    ]
    file = tmp_path / "documents.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n", encoding="utf-8")
    options = [str(file), "--models", str(published.folder), "--spacy-model", str(pipeline_folder),
               "--device", "cpu", "--store", str(tmp_path / "store.sqlite")]  # fmt: skip
    invoke(command, [*options, "--explain"])
    output = capsys.readouterr()
    rows = [json.loads(line) for line in output.out.splitlines()]
    invoke(command, [*options, "-o", str(tmp_path / "out.jsonl")])
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == output.out
    assert [row["id"] for row in rows] == ["x", "2"]
    assert set(SCORES) < set(rows[0])
    assert "mean: lerc" in output.err
    assert '"faithful": true' in output.err
