"""What the examiner learns from is true, and its comparison with the exact check is exact."""

import random

import pytest
import torch

from brido.corpus.settings import WorldSettings
from brido.evaluation.qafacteval.lerc import Comparison
from brido.evaluation.world_qa import questions
from brido.world import documents
from experiments import examiner_training as examples
from experiments.examiner import OverlapScorer, compare, correlations, load_metric


@pytest.fixture(scope="module")
def rows():
    return list(documents(WorldSettings(), "validation", 60))


def test_statements_stand_where_they_say_and_have_one_question(rows):
    asked = {}
    for row in rows:
        found = examples.statements(row)
        told = {f["slot"]: f["value"] for f in row["facts"]}
        assert len(found) >= 3
        for span, slot, kind in found:
            assert row["summary"][slice(*span)] == told[slot]
            asked.setdefault(slot, set()).add(examples.question_about(slot, kind))
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


def test_marks_follow_the_overlap():
    pairs = (("Mr Barson", "mr Barson."), ("Mr Barson", "Barson"), ("Mr Barson", "Elmley"))
    batch = [[Comparison("", answer, prediction, "")] for answer, prediction in pairs]
    assert OverlapScorer().score(batch) == pytest.approx([5.0, 1 + 3 * 2 / 3, 1.0])


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
        return {**means, "em": -means["em"], "n_questions": len(asked)}


def test_compare_correlates_over_all_documents_of_all_systems(rows):
    other = {row["id"]: rows[index - 1]["summary"] for index, row in enumerate(rows)}
    systems = {"reference": {row["id"]: row["summary"] for row in rows}, "other": other}
    found = compare(_Exact(rows), rows, systems)
    assert correlations(found) == {"f1": 1.0, "em": -1.0, "is_answered": 1.0}
    means = found.groupby("system").mean()
    assert (means["f1"] == means["world_f1"]).all()
    assert means.loc["reference", "f1"] > means.loc["other", "f1"]


def test_trained_models_run_in_the_metric(rows, tmp_path):
    """Two dozen documents teach little, but everything is saved where the metric finds it."""
    torch.set_num_threads(1)
    examples.train_examiner(tmp_path, rows[:24])
    metric = load_metric(tmp_path, "cpu")
    found = metric.score([row["document"] for row in rows[:2]], ["", rows[1]["summary"]])
    assert found[0]["n_generated"] == 0
    assert found[1]["n_generated"] == len(found[1]["questions"])
    assert metric.signature(found)["pipeline"] == "en_world_examiner"
