"""A local instruct model as judge: real tokenizer, chat template and generation, tiny weights."""

import json
import shutil
import sqlite3

import pytest

from brido.endpoint.settings import EndpointRuntime
from brido.evaluation.geval import GEval
from brido.evaluation.geval.criteria import CRITERIA
from brido.evaluation.geval.settings import GEvalSettings
from brido.utils.errors import BridoError

DOCUMENTS = ["the old bridge", "river", "mayor opened the new bridge in 1994", "closed", "new"]
SUMMARIES = ["old bridge", "the river", "bridge opened", "it closed in 1994", "new"]


@pytest.fixture(scope="module")
def instruct_model(instruct_model, tmp_path_factory):
    """The tiny model with a generation_config whose habits would change its marks."""
    folder = tmp_path_factory.mktemp("habits") / "model"
    shutil.copytree(instruct_model, folder)
    path = folder / "generation_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "repetition_penalty": 1.7}))
    return folder


@pytest.fixture
def judge(tmp_path, instruct_model, short_prompt):
    def make(store="answers", batch_size=2, runtime=None, **settings):
        chosen = {
            "backend": "transformers",
            "model": str(instruct_model),
            "prompt": short_prompt,
            "max_answer_tokens": 20,
            **settings,
        }
        where = {"store": str(tmp_path / f"{store}.sqlite"), "batch_size": batch_size}
        return GEval(GEvalSettings(**chosen), EndpointRuntime(**where, **(runtime or {})), "cpu")

    return make


def test_greedy_marks_are_the_most_likely_ones(judge, taught_marks):
    evaluation = judge(score_mode="greedy").score(DOCUMENTS, SUMMARIES)
    for row in evaluation.rows:
        assert {name: row[name] for name in CRITERIA} == taught_marks
    assert evaluation.signature["structured_output"] is False
    assert evaluation.signature["answers"] == 5
    assert evaluation.signature["answer_tokens"] == 5 * (4 + 4 + 1 + 1)  # form, marks, }, end


def test_probability_weighted_marks_are_the_models_own_expectation(judge, instruct_model):
    """Against one plain forward pass over prompt and answer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    evaluation = judge(score_mode="probability").score(DOCUMENTS, SUMMARIES)
    tokenizer = AutoTokenizer.from_pretrained(instruct_model)
    model = AutoModelForCausalLM.from_pretrained(instruct_model).eval()
    for document, summary, row in zip(DOCUMENTS, SUMMARIES, evaluation.rows, strict=True):
        text = f"<|user|>Source: {document}\nSummary: {summary}\nMarks:<|end|><|assistant|>"
        text += '{"coherence": '
        with torch.inference_mode():
            logits = model(**tokenizer(text, return_tensors="pt")).logits[0, -1]
        digits = [tokenizer.convert_tokens_to_ids(str(mark)) for mark in range(1, 6)]
        shares = torch.softmax(logits[digits], -1)
        expected = sum(mark * float(share) for mark, share in enumerate(shares, 1))
        assert row["coherence"] == pytest.approx(expected, abs=1e-3)
        assert 2.2 < row["coherence"] < 3.9  # taught: 4 three times in four, else 2


def test_samples_depend_on_the_question_alone_not_on_the_batch(judge):
    # What a model this small draws in vain differs between processors: some of it is allowed.
    settings = {"score_mode": "mean", "samples": 8, "max_invalid_fraction": 0.5}
    one = judge("one", batch_size=1, **settings).score(DOCUMENTS, SUMMARIES)
    many = judge("many", batch_size=7, **settings).score(DOCUMENTS, SUMMARIES)
    assert one == many
    turned = judge("turned", **settings).score(DOCUMENTS[::-1], SUMMARIES[::-1])
    assert turned.rows == one.rows[::-1]
    assert {row["coherence"] for row in one.rows} != {4.0}
    other = judge("other", seed=1, **settings).score(DOCUMENTS, SUMMARIES)
    assert other.rows != one.rows


def test_samples_are_drawn_from_the_models_distribution(judge):
    """The mean of many draws comes to the expectation (standard error about 0.06)."""
    (expected,) = judge(score_mode="probability").score(DOCUMENTS[:1], SUMMARIES[:1]).rows
    settings = {"score_mode": "mean", "samples": 200, "max_invalid_fraction": 0.2}
    (row,) = judge(batch_size=100, **settings).score(DOCUMENTS[:1], SUMMARIES[:1]).rows
    assert row["coherence"] == pytest.approx(expected["coherence"], abs=0.3)
    # A narrow nucleus leaves the likelier mark alone.
    narrow = judge(batch_size=50, top_p=0.5, **{**settings, "samples": 20})
    assert narrow.score(DOCUMENTS[:1], SUMMARIES[:1]).rows[0]["coherence"] == 4.0


def test_answers_are_kept_and_replayed_without_the_model(judge, tmp_path, monkeypatch):
    first = judge(score_mode="greedy").score(DOCUMENTS, SUMMARIES)

    def no_model(*_, **__):
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("transformers.AutoModelForCausalLM.from_pretrained", no_model)
    assert judge(score_mode="greedy").score(DOCUMENTS, SUMMARIES) == first
    connection = sqlite3.connect(tmp_path / "answers.sqlite")
    ((parameters,),) = connection.execute("SELECT parameters FROM judges")
    connection.close()
    assert json.loads(parameters)["seed"] == 0


def test_a_prompt_too_long_for_the_model_is_missing_not_fatal(judge):
    with pytest.raises(BridoError, match="4 of 8 marks are missing.*4 not_answered"):
        judge(score_mode="greedy").score(["river", "river " * 200], ["river", "river"])


def test_models_that_cannot_judge(judge, tmp_path, instruct_model):
    with pytest.raises(BridoError, match="cannot be loaded"):
        judge(model=str(tmp_path / "nothing")).score(DOCUMENTS, SUMMARIES)
    plain = tmp_path / "plain"
    shutil.copytree(instruct_model, plain)
    (plain / "chat_template.jinja").unlink()
    with pytest.raises(BridoError, match="no chat template"):
        judge(model=str(plain)).score(DOCUMENTS, SUMMARIES)
    with pytest.raises(BridoError, match=r"max_answer_tokens.*\n.*always needs a server"):
        judge(max_answer_tokens=None, structured_output="always")
