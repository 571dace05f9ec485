"""What the examiner learns from is true, and its comparison with the exact check is exact."""

import random

import pytest
import torch
from transformers import BertConfig, BertForTokenClassification

from brido.corpus.settings import WorldSettings
from brido.evaluation.qafacteval.lerc import Comparison
from brido.evaluation.world_qa import questions
from brido.world import documents
from experiments.examiner import examples, scorer, training
from experiments.examiner.__main__ import compare, load_metric, train_examiner


@pytest.fixture(scope="module")
def rows():
    return list(documents(WorldSettings(), "validation", 60))


def test_statements_stand_where_they_say(rows):
    for row in rows:
        found = examples.statements(row)
        told = {f["slot"]: f["value"] for f in row["facts"]}
        assert len(found) >= 3
        for item in found:
            assert row["summary"][item.start : item.end] == told[item.slot]


def test_every_slot_has_its_question(rows):
    asked = {}
    for row in rows:
        for fact in row["facts"][1:]:
            asked.setdefault(fact["slot"], set()).add(
                examples.question_about(fact["slot"], fact["type"])
            )
    assert all(len(texts) == 1 for texts in asked.values())
    assert asked["town"] == {"In which town was it?"}


def test_readings_agree_with_the_facts(rows):
    supported = {row["document"]: {f["value"] for f in row["facts"] if f["in_document"]}
                 for row in rows}  # fmt: skip
    kinds = {"answered": 0, "null": 0}
    for question, context, span in examples.readings(rows, random.Random(0)):
        assert question.endswith("?")
        kinds["answered" if span else "null"] += 1
        if span and context in supported:
            assert context[slice(*span)] in supported[context]
    assert min(kinds.values()) > 100


def test_marks_follow_the_overlap(rows):
    assert examples.mark("Mr Barson", "mr Barson.") == 5.0
    assert examples.mark("Mr Barson", "Barson") == pytest.approx(1 + 3 * 2 / 3)
    assert examples.mark("Mr Barson", "Elmley") == 1.0
    found = list(examples.comparisons(rows, random.Random(0)))
    assert {5.0, 1.0} < {item[-1] for item in found}
    assert all(item[-1] == examples.mark(item[1], item[2]) for item in found)


class _Exact:
    """A metric that returns the exact check's own values."""

    def __init__(self, rows) -> None:
        self.facts = {row["document"]: row["facts"] for row in rows}

    def score(self, documents, summaries, progress):
        return [self._row(*pair) for pair in zip(documents, summaries, strict=True)]

    def _row(self, document, summary):
        asked = questions(summary, self.facts[document])
        means = {
            name: sum(item[name] for item in asked) / max(len(asked), 1)
            for name in ("is_answered", "f1", "em")
        }
        return {**means, "lerc": -means["f1"], "n_questions": len(asked)}


def test_compare_correlates_over_all_documents_of_all_systems(rows):
    other = {row["id"]: rows[index - 1]["summary"] for index, row in enumerate(rows)}
    systems = {"reference": {row["id"]: row["summary"] for row in rows}, "other": other}
    result = compare(_Exact(rows), rows, systems)
    assert result["spearman"]["f1 with world_f1"] == pytest.approx(1.0)
    assert result["spearman"]["lerc with world_f1"] == pytest.approx(-1.0)
    means = result["means"]
    assert means["reference"]["f1"] == means["reference"]["world_f1"] > means["other"]["f1"]


def test_trained_models_run_in_the_metric(rows, tmp_path):
    """Two dozen documents teach little, but everything is saved where the metric finds it."""
    torch.set_num_threads(1)
    train_examiner(tmp_path, rows[:24])
    metric = load_metric(tmp_path, "cpu")
    found = metric.score([row["document"] for row in rows[:2]], ["", rows[1]["summary"]])
    assert found[0]["n_generated"] == 0
    assert found[1]["n_generated"] == len(found[1]["questions"])
    assert metric.signature(found)["pipeline"] == "en_world_examiner"


def test_the_scorer_reads_four_parts_in_two_segments(rows, tmp_path):
    training.word_pieces(tmp_path, [row["summary"] for row in rows])
    config = BertConfig(num_hidden_layers=1, **training.SIZE)
    tokenizer = training.load_tokenizer(tmp_path, config, do_lower_case=True)
    source = rows[0]["summary"]
    item = scorer.encode_comparison(tokenizer, Comparison("a town", "a man", "ten", source))
    parts = (source, "a town", "a man", "ten")
    assert item == tokenizer("[SEP]".join(parts))["input_ids"]
    types = scorer.segments(item, tokenizer.sep_token_id)
    first = len(tokenizer("[SEP]".join(parts[:2]))["input_ids"])
    assert types == [0] * first + [1] * (len(item) - first)
    long = scorer.encode_comparison(tokenizer, Comparison("a town", "a man", "ten", "a " * 900))
    answers = item[first:]
    assert (len(long), long[-len(answers) :]) == (512, answers)


def test_the_scorer_starts_as_a_comparison(rows, tmp_path):
    """Before any training, a word of the prediction attends to its copy in the answer."""
    training.word_pieces(tmp_path, [row["summary"] for row in rows])
    config = BertConfig(num_hidden_layers=2, num_labels=1, layer_norm_eps=1e-12, **training.SIZE)
    tokenizer = training.load_tokenizer(tmp_path, config, do_lower_case=True)
    config.vocab_size = len(tokenizer)
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = BertForTokenClassification(config)
    scorer.look_for_equals(model)
    model.eval()
    seen = []
    for word in sorted({word for row in rows for word in row["summary"].split()})[:40]:
        item = scorer.encode_comparison(tokenizer, Comparison("In which town?", word, word, word))
        types = scorer.segments(item, tokenizer.sep_token_id)
        output = model(
            torch.tensor([item]), token_type_ids=torch.tensor([types]), output_attentions=True
        )
        attention = output.attentions[0][0, :2].mean(0)
        first = types.index(1)
        copy = first + (len(item) - first) // 2
        source = item.index(item[first])
        seen.append(torch.stack([attention[copy, first], attention[copy, source]]))
    to_answer, to_source = torch.stack(seen).mean(0)
    assert to_answer > 0.2
    assert to_answer > 5 * to_source
