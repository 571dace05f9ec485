"""Another judge: a way of asking that brido does not know, put into the table from outside."""

import json

import pytest
from written_marks import clean_answer

from brido.endpoint import Answer
from brido.endpoint.settings import EndpointRuntime
from brido.evaluation import Inputs
from brido.evaluation.geval import METRIC, GEval
from brido.evaluation.geval.backends import BACKENDS, Backend
from brido.evaluation.geval.criteria import CRITERIA
from brido.evaluation.geval.settings import GEvalSettings
from brido.settings.load import check_params
from brido.utils.errors import BridoError
from brido.work.settings import RuntimeSettings

DOCUMENTS = [f"Document {number} tells of a bridge." for number in range(4)]
SUMMARIES = [f"Bridge {number} stands." for number in range(4)]


class Toy(Backend):
    """Answers by a rule, and only for one model."""

    asked = 0

    def problems(self):
        return [] if self.settings.model == "rule" else ["evaluation.geval.model: only `rule`"]

    def ask(self, questions, ledger):
        for question in questions:
            type(self).asked += 1
            ledger.report.calls += 1
            text = clean_answer(question.messages[0]["content"])
            ledger.keep(question, [Answer(text, served_model="toy")] * len(question.samples))
            ledger.advance(len(question.samples))


@pytest.fixture
def toy(monkeypatch, tmp_path):
    monkeypatch.setitem(BACKENDS, "toy", Toy)
    monkeypatch.setattr(Toy, "asked", 0)
    return EndpointRuntime(store=str(tmp_path / "answers.sqlite"))


def test_a_backend_from_outside_gives_marks_that_are_kept(toy):
    judge = GEval(GEvalSettings(backend="toy", model="rule", samples=2), toy)
    evaluation = judge.score(DOCUMENTS, SUMMARIES)
    for document, summary, row in zip(DOCUMENTS, SUMMARIES, evaluation.rows, strict=True):
        marks = json.loads(clean_answer(judge.prompt.render(document, summary, CRITERIA)))
        assert {name: row[name] for name in CRITERIA} == marks
        assert row["valid_answers"] == 2
    assert evaluation.signature["served_models"] == {"toy": 8}
    assert (evaluation.signature["backend"], Toy.asked) == ("toy", 4)
    assert judge.score(DOCUMENTS, SUMMARIES) == evaluation
    assert Toy.asked == 4


def test_it_serves_the_pipeline_as_any_other(toy):
    settings = GEvalSettings(backend="toy", model="rule", score_mode="greedy")
    inputs = Inputs([f"d{n}" for n in range(4)], DOCUMENTS, SUMMARIES, [["r"]] * 4)
    runtime = RuntimeSettings(endpoint=toy)
    evaluation = METRIC.measure(inputs, settings, runtime=runtime)
    assert evaluation == GEval(settings, toy).score(DOCUMENTS, SUMMARIES, inputs.ids)
    assert Toy.asked == 4


def test_it_says_itself_what_it_cannot_do(toy):
    with pytest.raises(BridoError, match="model: only `rule`"):
        GEval(GEvalSettings(backend="toy", model="other"), toy)


def test_a_backend_that_nobody_knows_is_an_error_of_the_settings(toy):
    params = {"checkpoints": {"base": {"source": "embedded"}}}
    expected = r"geval\.backend: must be one of openai, transformers, toy, not 'toi'"
    with pytest.raises(BridoError, match=expected):
        check_params({**params, "evaluation": {"geval": {"backend": "toi"}}})
    known = check_params({**params, "evaluation": {"geval": {"backend": "toy"}}})
    assert known.evaluation.geval.backend == "toy"
